import type { z } from 'zod';
import { isJsonObject, type Json } from '../base/json.ts';
import { checkAt } from '../contract/border.ts';
import type { IrError } from '../ir/response.ts';

/** Proxies end a stream with the bare body of an error, which has no `type` that events are told apart by. Other values come back as they are. */
export function withErrorType(value: Json): Json {
  if (!isJsonObject(value) || value.type !== undefined) return value;
  const { error } = value;
  if (typeof error === 'string') return { type: 'error', error: { message: error } };
  return isJsonObject(error) ? { ...value, type: 'error' } : value;
}

/** An event that tells an error in a form that its vendor does not write: the words alone, or words and type beside it. */
export function withErrorObject(value: Json): Json {
  if (!isJsonObject(value) || value.type !== 'error' || isJsonObject(value.error)) return value;
  const { error, message, code } = value;
  const words = [error, message].find((one) => typeof one === 'string');
  return { ...value, error: { ...(words === undefined ? {} : { message: words }), ...(typeof code === 'string' ? { type: code } : {}) } };
}

/** Text that is no JSON at all keeps a connection alive; JSON that does not come to its end was part of the answer. */
export function isCutOff(data: string): boolean {
  return /^\s*[{[]\s*["{[]/.test(data);
}

/** The value as the schema's type, or the error that ends an answer of which it was a part. */
export function readAt<T>(schema: z.ZodType<T>, value: Json): { readonly event: T } | { readonly error: IrError } {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { event: parsed.data };
  const checked = checkAt(schema, value);
  if (checked.ok) return { event: checked.value };
  return {
    error: unreadable(
      checked.complaints
        .slice(0, 3)
        .map(({ path, message }) => `${path}: ${message}`)
        .join('; '),
    ),
  };
}

/** An event of an answer that cannot be read, whose words would be missing from the answer without a sign: the answer ends there. */
export function unreadable(why = 'its JSON does not come to an end'): IrError {
  return { kind: 'server', message: `an event of the engine's stream cannot be read: ${why}`, status: 200 };
}
