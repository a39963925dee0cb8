/** Any value JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

export type ParseResult = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/** The only place that calls `JSON.parse` on text from outside; failure is a value, not a throw. */
export function parseJson(text: string): ParseResult {
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A parsed object, or undefined when the text is anything else. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
}
