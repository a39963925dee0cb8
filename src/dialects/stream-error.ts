import { isJsonObject, type Json } from '../base/json.ts';

/** Proxies end a stream with the bare body of an error, which has no `type` that events are told apart by. Other values come back as they are. */
export function withErrorType(value: Json): Json {
  if (!isJsonObject(value) || value.type !== undefined) return value;
  const { error } = value;
  if (typeof error === 'string') return { type: 'error', error: { message: error } };
  return isJsonObject(error) ? { ...value, type: 'error' } : value;
}
