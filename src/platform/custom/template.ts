import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Secrets } from '../tools/secrets.ts';
import { ToolFailure } from '../tools/tool.ts';

const PLACE = /\{\{\s*(input|config|secret)\.([A-Za-z0-9_.-]{1,200})\s*\}\}/g;
const ONLY_PLACE = /^\{\{\s*(input|config|secret)\.([A-Za-z0-9_.-]{1,200})\s*\}\}$/;

type Room = 'input' | 'config' | 'secret';

/** A value that a template names. */
export interface Place {
  readonly room: Room;
  readonly name: string;
}

/** The values that templates are filled from. */
export interface Filling {
  readonly input: JsonObject;
  readonly config: JsonObject;
  readonly secrets: Secrets;
}

/** Every place in a template. */
export function placesIn(template: string): Place[] {
  return [...template.matchAll(PLACE)].map(placeOf);
}

/** Braces that look like a place and are none. */
export function hasStrayBraces(template: string): boolean {
  return /\{\{|\}\}/.test(template.replaceAll(PLACE, ''));
}

/** Braces that were meant for a place. Others may be the service's own: a body can be a template itself. */
export function hasMisspeltPlace(template: string): boolean {
  return /\{\{\s*(?:input|config|secret)/.test(template.replaceAll(PLACE, ''));
}

/** Every text in a JSON template. */
export function textsIn(template: Json): string[] {
  if (typeof template === 'string') return [template];
  if (Array.isArray(template)) return template.flatMap(textsIn);
  return isJsonObject(template) ? Object.values(template).flatMap(textsIn) : [];
}

/** The text with its places filled; undefined when a template is one place alone and its value is missing. */
export function fillText(template: string, filling: Filling): string | undefined {
  const whole = ONLY_PLACE.exec(template);
  if (whole !== null) {
    const value = valueAt(placeOf(whole), filling);
    return value === undefined ? undefined : textOf(value);
  }
  return template.replaceAll(PLACE, (...found) => {
    const place = placeOf(found);
    const value = valueAt(place, filling);
    if (value === undefined) throw new ToolFailure(`${place.room}.${place.name} is missing.`);
    return textOf(value);
  });
}

/** JSON with its places filled: a string that is one place alone becomes the value, and a member or item without a value is left out. */
export function fillJson(template: Json, filling: Filling): Json | undefined {
  if (typeof template === 'string') {
    const whole = ONLY_PLACE.exec(template);
    return whole === null ? fillText(template, filling) : valueAt(placeOf(whole), filling);
  }
  if (Array.isArray(template)) return template.map((item: Json) => fillJson(item, filling)).filter((item) => item !== undefined);
  if (!isJsonObject(template)) return template;
  return Object.fromEntries(
    Object.entries(template).flatMap(([key, item]) => {
      const value = fillJson(item, filling);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function placeOf(found: ArrayLike<unknown>): Place {
  // The pattern has exactly these two groups, and the first knows three words.
  return { room: found[1] as Room, name: String(found[2]) };
}

function valueAt({ room, name }: Place, filling: Filling): Json | undefined {
  if (room === 'secret') {
    const secret = filling.secrets.find(name);
    if (secret === undefined) throw new ToolFailure(`The secret ${name} is not configured on this server.`);
    return secret.value;
  }
  return name
    .split('.')
    .reduce<Json | undefined>(
      (value, step) => (value !== undefined && isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined),
      filling[room],
    );
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
