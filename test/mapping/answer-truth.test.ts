import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isJsonObject, type Json } from '../../src/base/json.ts';
import type { FidelityEntry } from '../../src/contract/negotiation.ts';
import { dialects } from '../../src/dialects/index.ts';
import { wholeAnswer } from '../support/answer-translation.ts';

const ROOT = join(import.meta.dirname, '../../src/dialects');

/** The whole answers that the dialects keep as fixtures. */
function answersOf(dialect: string): (readonly [name: string, body: Json])[] {
  const folder = join(ROOT, dialect, 'fixtures');
  return readdirSync(folder)
    .map((name) => [name, join(folder, name, 'response.json')] as const)
    .filter(([name, file]) => existsSync(file) && name !== 'several-answers') // not every caller can ask for several
    .map(([name, file]) => [name, JSON.parse(readFileSync(file, 'utf8')) as Json]); // a fixture of ours
}

type Step = string | number;

/** Words of a fixed list: any other one is another answer, or none. Ids of calls are made from the id of an answer without any; a place ends with its text, and citations of Claude hold for a whole block. */
const WORDS: ReadonlySet<Step> = new Set([
  'type',
  'stop_reason',
  'finish_reason',
  'finishReason',
  'status',
  'blockReason',
  'reason',
  'id',
  'responseId',
  'start_index',
  'end_index',
]);

/** Places of the texts and numbers in a value. */
function leavesOf(value: Json, at: readonly Step[] = []): (readonly Step[])[] {
  if (Array.isArray(value)) return value.flatMap((one: Json, index) => leavesOf(one, [...at, index]));
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, one]) => leavesOf(one, [...at, key]));
  return (typeof value === 'string' || typeof value === 'number') && !WORDS.has(at.at(-1) ?? '') ? [at] : [];
}

function changedAt(value: Json, [step, ...rest]: readonly Step[]): Json {
  if (step === undefined) return typeof value === 'number' ? value + 7 : `${String(value)}x`;
  if (Array.isArray(value)) return value.map((one: Json, index) => (index === step ? changedAt(one, rest) : one));
  return isJsonObject(value) ? { ...value, [step]: changedAt(value[step] ?? null, rest) } : value;
}

function told(engine: string, caller: string, body: Json): { text: string; fidelity: readonly FidelityEntry[] } {
  const answer = wholeAnswer(engine, caller, body);
  return { text: JSON.stringify(answer.body), fidelity: answer.fidelity };
}

/** The entries whose count grows by one leaf more at this place: which entry a leaf belongs to is found by taking it away. */
function entryOf(before: readonly FidelityEntry[], after: readonly FidelityEntry[]): FidelityEntry | undefined {
  return before.find((entry) => (after.find(({ path }) => path === entry.path)?.count ?? 0) < (entry.count ?? 0));
}

function without(value: Json, [step, ...rest]: readonly Step[]): Json {
  if (Array.isArray(value))
    return value.map((one: Json, index) => (index === step ? (rest.length === 0 ? null : without(one, rest)) : one));
  if (!isJsonObject(value) || step === undefined) return value;
  return { ...value, [step]: rest.length === 0 ? null : without(value[step] ?? null, rest) };
}

const pairs = dialects.flatMap((engine) => dialects.map((caller) => ({ engine: engine.id, caller: caller.id })));

describe('a leaf of an answer that is said to be dropped changes nothing for the caller', () => {
  test.each(pairs)('$engine → $caller', ({ engine, caller }) => {
    const lies: string[] = [];
    for (const [name, body] of answersOf(engine)) {
      const whole = attempt(() => told(engine, caller, body));
      if (whole === undefined) continue; // a free-form call, which such a caller is never offered
      for (const leaf of leavesOf(body)) {
        const entry = attempt(() => entryOf(whole.fidelity, told(engine, caller, without(body, leaf)).fidelity));
        const other = attempt(() => told(engine, caller, changedAt(body, leaf)).text);
        if (entry?.fate === 'dropped' && other !== undefined && other !== whole.text) lies.push(`${name}: ${leaf.join('.')}`);
      }
    }
    expect(lies).toEqual([]);
  });
});

describe('a leaf of an answer that is said to arrive does', () => {
  test.each(pairs)('$engine → $caller', ({ engine, caller }) => {
    const lies: string[] = [];
    for (const [name, body] of answersOf(engine)) {
      const whole = attempt(() => told(engine, caller, body));
      if (whole === undefined) continue; // a free-form call, which such a caller is never offered
      for (const leaf of leavesOf(body)) {
        const entry = attempt(() => entryOf(whole.fidelity, told(engine, caller, without(body, leaf)).fidelity));
        const other = attempt(() => told(engine, caller, changedAt(body, leaf)).text);
        const arrives = entry?.fate === 'exact' || entry?.fate === 'renamed';
        if (arrives && !STRUCTURE.test(entry.path) && other === whole.text) lies.push(`${name}: ${leaf.join('.')} (${entry.fate})`);
      }
    }
    expect(lies).toEqual([]);
  });
});

/** Roles, numbers and sums, which a translation writes anew. */
const STRUCTURE =
  /(?:^|\.)(?:role|index|object|total_tokens|totalTokenCount|padding|obfuscation)$|<(?:message|reasoning|function_call|custom_tool_call)>$/;

/** Undefined where the answer cannot be read without that leaf. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined; // a leaf that the answer cannot do without
  }
}
