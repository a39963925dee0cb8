import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';

/** The objects in a list. */
export function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : []; // Array.isArray widens
}

export function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** A text in up to three pieces; no vendor cuts through a character. */
export function pieces(whole: Json | undefined): readonly string[] {
  const letters = [...text(whole)];
  const third = Math.ceil(letters.length / 3);
  return [letters.slice(0, third), letters.slice(third, 2 * third), letters.slice(2 * third)]
    .map((some) => some.join(''))
    .filter((some) => some !== '');
}
