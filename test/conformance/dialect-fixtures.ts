import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Json, parseJson } from '../../src/base/json.ts';

/** One fixture folder of a dialect. Absent files mean that the case does not say anything about that direction. */
export interface Fixture {
  readonly name: string;
  readonly request: Json;
  readonly ir: Json;
  readonly response?: Json;
  readonly responseIr?: Json;
  readonly stream?: Buffer;
  readonly events?: Json;
}

function folderOf(dialect: string): string {
  return fileURLToPath(new URL(`../../src/dialects/${dialect}/fixtures/`, import.meta.url));
}

function json(file: string): Json {
  const parsed = parseJson(readFileSync(file, 'utf8'));
  if (!parsed.ok) throw new Error(`${file}: ${parsed.message}`);
  return parsed.value;
}

export function fixturesOf(dialect: string): Fixture[] {
  const folder = folderOf(dialect);
  return readdirSync(folder).map((name) => {
    const file = (part: string): string => `${folder}${name}/${part}`;
    const optional = (part: string): Json | undefined => (existsSync(file(part)) ? json(file(part)) : undefined);
    const response = optional('response.json');
    const responseIr = optional('response.ir.json');
    const events = optional('events.json');
    return {
      name,
      request: json(file('request.json')),
      ir: json(file('ir.json')),
      ...(response === undefined ? {} : { response }),
      ...(responseIr === undefined ? {} : { responseIr }),
      ...(existsSync(file('stream.sse')) ? { stream: readFileSync(file('stream.sse')) } : {}),
      ...(events === undefined ? {} : { events }),
    };
  });
}
