import { z } from 'zod';
import type { Json } from '../base/json.ts';

/**
 * Any JSON value. What reaches a schema was parsed from JSON text, so the one thing left to check is that the value is there;
 * the cast states exactly that.
 */
export const JsonValue = z.unknown().refine((value) => value !== undefined, 'is required') as unknown as z.ZodType<Json>;

/** A JSON object with any members. */
export const JsonRecord = z.record(z.string(), JsonValue);
