import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';

const SHOWN = 120;

/** A value as it stands in a sentence. */
export function shown(value: Json | undefined): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

/** Collects in words where a value departs from what is expected. */
export class Problems {
  readonly list: string[] = [];

  fail(problem: string): void {
    this.list.push(problem);
  }

  that(holds: boolean, problem: string): void {
    if (!holds) this.fail(problem);
  }

  is(name: string, value: Json | undefined, expected: Json): void {
    if (value !== expected) this.fail(`${name} should be ${shown(expected)}, not ${shown(value)}`);
  }

  oneOf(name: string, value: Json | undefined, expected: readonly Json[]): void {
    if (value === undefined || !expected.includes(value)) {
      this.fail(`${name} should be one of ${expected.map(shown).join(', ')}, not ${shown(value)}`);
    }
  }

  /** A text with something in it. */
  text(name: string, value: Json | undefined): string {
    if (typeof value === 'string' && value !== '') return value;
    this.fail(`${name} should be a text, not ${shown(value)}`);
    return '';
  }

  /** A text that may be empty. */
  anyText(name: string, value: Json | undefined): string {
    if (typeof value === 'string') return value;
    this.fail(`${name} should be a text, not ${shown(value)}`);
    return '';
  }

  count(name: string, value: Json | undefined): number {
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
    this.fail(`${name} should be a count, not ${shown(value)}`);
    return 0;
  }

  object(name: string, value: Json | undefined): JsonObject {
    if (isJsonObject(value)) return value;
    this.fail(`${name} should be an object, not ${shown(value)}`);
    return {};
  }

  objects(name: string, value: Json | undefined): readonly JsonObject[] {
    if (!Array.isArray(value)) {
      this.fail(`${name} should be a list, not ${shown(value)}`);
      return [];
    }
    return value.map((item: Json, at) => this.object(`${name}[${at}]`, item));
  }
}
