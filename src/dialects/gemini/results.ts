import type { JsonObject } from '../../base/json.ts';

/** A function result as text. `{result: …}`, `{output: …}` and `{error: …}` are the SDKs' wrappers around a plain value. */
export function resultText(response: JsonObject): { readonly text: string; readonly isError: boolean } {
  const [key, ...more] = Object.keys(response);
  const isError = key === 'error' && more.length === 0;
  const wrapped = isError || ((key === 'result' || key === 'output') && more.length === 0);
  const value = wrapped ? response[key ?? ''] : response;
  return { text: typeof value === 'string' ? value : JSON.stringify(value), isError };
}

export function resultObject(text: string, isError: boolean): JsonObject {
  return isError ? { error: text } : { result: text };
}

/** A call that came without an id gets one here; it is never sent back to Gemini, which counts calls by name and order. */
const NAMELESS = 'gemini-call-';

export function namelessId(number: number): string {
  return `${NAMELESS}${number}`;
}

export function isNameless(id: string): boolean {
  return id.startsWith(NAMELESS);
}
