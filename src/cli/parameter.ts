import { CliError } from './failure.ts';

/** One argument or option: how it is written, what it is for, and how its raw value becomes a typed one. */
export interface Parameter<T> {
  readonly syntax: string;
  readonly description: string;
  /** May be given several times. */
  readonly repeated: boolean;
  read(raw: unknown): T;
}

function parameter<T>(syntax: string, description: string, read: (raw: unknown) => T): Parameter<T> {
  return { syntax, description, repeated: false, read };
}

/** A text that must be there. */
export function required(syntax: string, description: string): Parameter<string> {
  return parameter(syntax, description, String);
}

/** A text that may be left out. */
export function optional(syntax: string, description: string): Parameter<string | undefined> {
  return parameter(syntax, description, textOrNothing);
}

/** A switch. */
export function flag(syntax: string, description: string): Parameter<boolean> {
  return parameter(syntax, description, (raw) => raw === true);
}

/** A text that may be given several times; commas separate too. */
export function list(syntax: string, description: string): Parameter<readonly string[]> {
  return { syntax, description, repeated: true, read: (raw) => (Array.isArray(raw) ? raw.flatMap(splitList) : []) };
}

/** Every word that is left, as it was written. */
export function words(syntax: string, description: string): Parameter<readonly string[]> {
  return { syntax, description, repeated: true, read: (raw) => (Array.isArray(raw) ? raw.map(String) : []) };
}

/** A TCP port; 0 lets the system choose. */
export function port(syntax: string, description: string): Parameter<number | undefined> {
  return parameter(syntax, description, (raw) => {
    const text = textOrNothing(raw);
    if (text === undefined) return undefined;
    const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
    if (value <= 65_535) return value;
    throw new CliError('usage', `'${text}' is not a port`, { hint: 'A port is a number from 0 to 65535; 0 lets the system choose.' });
  });
}

/** A whole number that is not negative. */
export function count(syntax: string, description: string): Parameter<number | undefined> {
  return parameter(syntax, description, (raw) => {
    const text = textOrNothing(raw);
    if (text === undefined) return undefined;
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw new CliError('usage', `'${text}' is not a whole number`, { hint: `${syntax.split(' ')[0]} takes digits only.` });
  });
}

function textOrNothing(raw: unknown): string | undefined {
  return typeof raw === 'string' ? raw : undefined;
}

function splitList(item: unknown): string[] {
  return String(item)
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
