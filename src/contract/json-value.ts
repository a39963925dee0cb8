import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';

/*
 * Values that reach a schema were parsed from JSON text, so neither looks inside: the values stay the very ones that came. A schema that copied
 * them would cost a walk through every tool and every argument, and would leave out a member named `__proto__` without a word.
 */

/** Any JSON value; the one thing left to check is that it is there, and the cast states exactly that. */
export const JsonValue = z.unknown().refine((value) => value !== undefined, 'is required') as unknown as z.ZodType<Json>;

/** A JSON object with any members; the cast states what the check has found. */
export const JsonRecord = z
  .unknown()
  // Checks that follow are not asked about anything else.
  .refine((value) => isJsonObject(value as Json), { error: 'must be an object', abort: true })
  .meta({ type: 'object', additionalProperties: {} }) as unknown as z.ZodType<JsonObject>;
