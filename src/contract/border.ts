import type { z } from 'zod';
import { isExactNumber } from '../base/json.ts';
import { CAPABILITIES, UNKNOWN_CAPABILITY } from './capability.ts';
import { AbpError } from './errors.ts';
import { nearName } from './near-name.ts';
import { fieldsAt } from './schema-fields.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** One place where a value is not what the schema asks for. */
interface Complaint {
  readonly path: string;
  readonly message: string;
}

/** Complaints a refusal carries; a body can be wrong in more places than an answer should list. */
const MOST = 50;
/** Choices a message spells out; longer lists only get the near name. */
const MOST_CHOICES = 12;

const capabilityNames = CAPABILITIES.map((row) => row.name);

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  /** `more`: complaints that are not spelt out. */
  | { readonly ok: false; readonly complaints: readonly Complaint[]; readonly more: number };

/** The value as the schema's type, or every place that is wrong. */
export function checkAt<T>(schema: z.ZodType<T>, value: unknown): Checked<T> {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return { ok: true, value: parsed.data };
  const eased = withDoubles(value, parsed.error.issues);
  if (eased !== value) return checkAt(schema, eased);
  return { ok: false, ...spelt(parsed.error.issues.flatMap((issue) => complaintsOf(schema, issue, []))) };
}

/** A body can be wrong in a hundred thousand places, and to say how takes longer than to find them. */
function spelt(all: readonly Wrong[]): { readonly complaints: readonly Complaint[]; readonly more: number } {
  const complaints = all.slice(0, MOST).map(({ path, say }) => ({ path: pathText(path), message: say() }));
  return { complaints, more: all.length - complaints.length };
}

/** Decimals with more digits than a double has are doubles to a field that asks for a number; integers must not change. */
function withDoubles(value: unknown, issues: readonly Issue[]): unknown {
  const copies = new Set<unknown>();
  return issues.reduce((eased, { path }) => replacedAt(eased, path, copies), value);
}

/** The value with another one at a place. What holds many of them is copied once. */
function replacedAt(value: unknown, path: Path, copies: Set<unknown>): unknown {
  const [step, ...rest] = path;
  if (step === undefined) {
    const decimal = isExactNumber(value) && /[.eE]/.test(value.rawJSON) ? Number(value.rawJSON) : Number.NaN;
    return Number.isFinite(decimal) ? decimal : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const inner: unknown = Reflect.get(value, step);
  const replaced = replacedAt(inner, rest, copies);
  if (replaced === inner) return value;
  const copy: object = copies.has(value) ? value : Array.isArray(value) ? [...value] : { ...value };
  copies.add(copy);
  Reflect.set(copy, step, replaced);
  return copy;
}

/** The value as the schema's type, or `invalid_request` naming every path that is wrong. `what` begins the message: "work order". */
export function parseAt<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const checked = checkAt(schema, value);
  if (checked.ok) return checked.value;
  const { complaints, more } = checked;
  const words = complaints.map((complaint) => (complaint.path === '' ? complaint.message : `${complaint.path}: ${complaint.message}`));
  if (more > 0) words.push(`and ${more} more`);
  throw new AbpError('invalid_request', `${what} is not valid: ${words.join('; ')}`, {
    issues: complaints.map((complaint) => ({ ...complaint })),
  });
}

/** A complaint before it is put into words. */
interface Wrong {
  readonly path: Path;
  readonly say: () => string;
}

function complaintsOf(schema: z.ZodType, issue: Issue, base: Path): Wrong[] {
  const path = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const known = issue.message === UNKNOWN_CAPABILITY ? capabilityNames : fieldsAt(schema, path);
    return issue.keys.map((key) => ({ path: [...path, key], say: () => unknownKey(key, known, issue.message) }));
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    return closestBranch(issue.errors).flatMap((inner) => complaintsOf(schema, inner, path));
  }
  return [{ path, say: () => messageOf(issue) }];
}

function unknownKey(key: string, known: readonly string[], message: string): string {
  if (message === UNKNOWN_CAPABILITY) return unknownValue(key, known, UNKNOWN_CAPABILITY);
  const near = nearName(key, known);
  if (near !== undefined) return `is not a known field; did you mean ${near}?`;
  return known.length > 0 && known.length <= MOST_CHOICES ? `is not a known field; there are ${known.join(', ')}` : 'is not a known field';
}

/** The branch of a union that went deepest is the one the caller meant. */
function closestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (issues: readonly Issue[]) => Math.max(...issues.map((issue) => issue.path.length));
  return branches.reduce((best, branch) => (depth(branch) > depth(best) ? branch : best));
}

function messageOf(issue: Issue): string {
  if (issue.input === undefined && issue.code !== 'custom') return 'is required';
  switch (issue.code) {
    case 'invalid_key':
      return issue.issues.find(({ code }) => code === 'custom')?.message ?? issue.message;
    case 'invalid_value':
      if (issue.message === UNKNOWN_CAPABILITY) return unknownValue(issue.input, capabilityNames, UNKNOWN_CAPABILITY);
      return notOneOf(issue.input, issue.values.map(String));
    case 'invalid_union':
      return notOneOf(discriminatorOf(issue), ('options' in issue ? (issue.options ?? []) : []).map(String));
    case 'invalid_type':
      if (issue.expected === 'int') return 'must be a whole number';
      return issue.message.replace(/^Invalid input: /, '');
    default:
      return plainWords(issue);
  }
}

/** The schema library's own words for bounds and addresses, as a person says them; a schema that has words of its own keeps them. */
function plainWords(issue: Issue): string {
  const { message } = issue;
  if (message === 'Invalid URL') return 'must be a URL such as https://host.example';
  if (issue.code === 'too_small' && message.startsWith('Too small: ')) {
    if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty';
    if (isNumber(issue)) return `must be ${issue.inclusive === true ? 'at least' : 'more than'} ${issue.minimum}`;
  }
  const isOver = issue.code === 'too_big' && message.startsWith('Too big: ') && isNumber(issue);
  return isOver ? `must be ${issue.inclusive === true ? 'at most' : 'less than'} ${issue.maximum}` : message;
}

function isNumber({ origin }: { readonly origin: string }): boolean {
  return origin === 'number' || origin === 'int';
}

/** A union without a matching branch reports the whole object as its input and the discriminator by name. */
function discriminatorOf(issue: z.core.$ZodIssueInvalidUnion): unknown {
  const { input } = issue;
  if (typeof input !== 'object' || input === null || issue.discriminator === undefined) return input;
  return Object.entries(input).find(([key]) => key === issue.discriminator)?.[1];
}

function notOneOf(value: unknown, choices: readonly string[]): string {
  if (value === undefined) return 'is required';
  return choices.length > MOST_CHOICES
    ? unknownValue(value, choices, 'is not a known value')
    : `${quoted(value)} is not one of ${choices.join(', ')}`;
}

function unknownValue(value: unknown, known: readonly string[], words: string): string {
  const near = typeof value === 'string' ? nearName(value, known) : undefined;
  return `${quoted(value)} ${words}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** `requirements.required[1].capability`; a key that is not a plain word is quoted in brackets. */
function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    const key = String(step);
    if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `${text}[${quoted(key)}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
}
