import { isExactNumber, isJsonObject, type Json, type JsonObject, parseJsonObject } from '../../src/base/json.ts';
import { decodeSse, SseFrames } from '../../src/base/sse.ts';
import { EngineStream } from '../../src/calls/answers/engine-stream.ts';
import { AbpError } from '../../src/contract/errors.ts';
import type { FidelityEntry } from '../../src/contract/negotiation.ts';
import { EngineFailure } from '../../src/ir/engine-failure.ts';
import { Fold } from '../../src/ir/fold.ts';
import type { IrResponse } from '../../src/ir/response.ts';
import { streamedAnswer, wholeAnswer } from '../support/answer-translation.ts';
import { dialectOf } from '../support/mapping.ts';
import type { SampleAnswer, SampleStream } from './sources.ts';
import type { Tally } from './tally.ts';

type Step = string | number;

/** Members that are not changed: a type, modality or mark of a thought says what the others are, an index which of a list is meant, and all reasons to block are one. */
const FIXED: ReadonlySet<Step> = new Set(['type', 'thought', 'modality', 'groundingChunkIndices', 'blockReason']);

/** Words of a fixed list are changed into another one of it. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  stop_reason: ['refusal', 'max_tokens'],
  finish_reason: ['length', 'content_filter'],
  finishReason: ['MAX_TOKENS', 'SAFETY'],
  status: ['incomplete', 'completed'],
  reason: ['content_filter', 'max_output_tokens'],
  service_tier: ['batch', 'standard'],
};

/** Roles and numbers, which a translation writes anew; a count that Kimi repeats; names of a reasoning item, which go along where its state does. */
const STRUCTURE = /(?:^|\.)(?:role|index|object)$|^usage\.cached_tokens$|<reasoning>$/;

/** Places of the texts and numbers in a value. */
function leavesOf(value: Json, at: readonly Step[] = []): (readonly Step[])[] {
  if (Array.isArray(value)) return value.flatMap((one: Json, index) => leavesOf(one, [...at, index]));
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, one]) => leavesOf(one, [...at, key]));
  const says = (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'boolean';
  return says && !at.slice(-2).some((step) => FIXED.has(step)) ? [at] : [];
}

function changedAt(value: Json, [step, ...rest]: readonly Step[], name: Step = ''): Json {
  if (step === undefined) return changed(value, String(name));
  if (Array.isArray(value)) return value.map((one: Json, index) => (index === step ? changedAt(one, rest, name) : one));
  return isJsonObject(value) ? { ...value, [step]: changedAt(value[step] ?? null, rest, step) } : value;
}

function changed(value: Json, name: string): Json {
  if (typeof value === 'boolean') return !value;
  // A place in a text stays inside of it.
  if (typeof value === 'number') return /index$/i.test(name) ? Math.abs(value - 1) : value + 7;
  return WORDS[name]?.find((word) => word !== value) ?? `${String(value)}x`;
}

function without(value: Json, [step, ...rest]: readonly Step[]): Json {
  if (Array.isArray(value))
    return value.map((one: Json, index) => (index === step ? (rest.length === 0 ? null : without(one, rest)) : one));
  if (!isJsonObject(value) || step === undefined) return value;
  return { ...value, [step]: rest.length === 0 ? null : without(value[step] ?? null, rest) };
}

interface Told {
  readonly text: string;
  readonly fidelity: readonly FidelityEntry[];
}

/** Undefined where the answer cannot be read or has no form for the caller, which is an error of its own. */
function told(engine: string, caller: string, body: Json): Told | undefined {
  try {
    const answer = wholeAnswer(engine, caller, body);
    return { text: JSON.stringify(answer.body), fidelity: answer.fidelity };
  } catch (error) {
    if (AbpError.is(error) || error instanceof EngineFailure) return undefined;
    throw error;
  }
}

/** The entry whose count shrinks when a leaf is taken away: the one that the leaf belongs to. */
function entryOf(before: readonly FidelityEntry[], after: readonly FidelityEntry[]): FidelityEntry | undefined {
  return before.find((entry) => (after.find(({ path }) => path === entry.path)?.count ?? 0) < (entry.count ?? 0));
}

/** Changes each leaf of a whole answer in turn: one that is said to arrive reaches the caller, one that is said to be dropped does not. */
export function tryAnswer(
  { id, from, answer }: SampleAnswer,
  caller: string,
  tally: Tally,
  picked: (at: number) => boolean = () => true,
): void {
  const whole = told(from, caller, answer);
  if (whole === undefined || isUnasked(answer, caller) || isInPieces(answer, from) || isFree(answer, caller)) return;
  const where = `${from} → ${caller}`;
  for (const [at, leaf] of leavesOf(answer).entries()) {
    if (!picked(at) || isWordless(answer, leaf)) continue;
    const less = told(from, caller, without(answer, leaf));
    const other = told(from, caller, changedAt(answer, leaf))?.text;
    if (less === undefined || other === undefined) continue;
    tally.tried += 1;
    const lie = lieOf(entryOf(whole.fidelity, less.fidelity), other !== whole.text, less.text !== whole.text);
    if (lie !== undefined) tally.wrong.push({ sample: id, where, what: `${leaf.join('.')} ${lie}` });
  }
}

/** Calls without an id get one that is made from the id of the answer, and Copilot tells some reasoning by the sum of all tokens alone. */
const READ_BESIDES = /^(?:id|responseId|usage\.total_tokens)$/;

function lieOf(entry: FidelityEntry | undefined, moved: boolean, missed: boolean): string | undefined {
  if (entry === undefined) return 'has no fate';
  // Something depends on what is told in another form, be it on its presence alone; of some things only a part is told.
  const inPart = entry.code === 'call_malformed' || entry.code === 'told_in_part';
  if (entry.fate === 'emulated' && !inPart && !moved && !missed) return `is not emulated: nothing depends on it (${entry.path})`;
  const arrives = (entry.fate === 'exact' || entry.fate === 'renamed') && !STRUCTURE.test(entry.path);
  const lie = entry.fate === 'dropped' ? moved && !READ_BESIDES.test(entry.path) : arrives && !moved;
  return lie ? `is not ${entry.fate} (${entry.path})` : undefined;
}

/** Several answers are told only to callers who can ask for them. */
function isUnasked({ choices, candidates }: JsonObject, caller: string): boolean {
  const list = choices ?? candidates;
  return Array.isArray(list) && list.length > 1 && dialectOf(caller).names.count === undefined;
}

/** Copilot tells the words and the calls of one answer as several choices, and how it ended in each of them. */
function isInPieces({ choices }: JsonObject, from: string): boolean {
  return from === 'copilot' && Array.isArray(choices) && choices.length > 1;
}

/** Members that are told by what they stand with alone: a message without words is none, and no place is in a text without letters. */
function isWordless(answer: JsonObject, leaf: readonly Step[]): boolean {
  const around = leaf.map((_, end) =>
    leaf.slice(0, end).reduce<Json>((value, step) => (value as Record<Step, Json>)[step] ?? null, answer),
  ); // the leaf is there
  return around.some((one) => {
    // The name of a hosted call says what it is: some are told as the code that they ran.
    if (isJsonObject(one) && one.type === 'server_tool_use') return leaf.at(-1) === 'name';
    if (!isJsonObject(one) || !('content' in one)) return false;
    if (one.type === 'message') return Array.isArray(one.content) && one.content.length === 0;
    return one.content === null && /_index$/.test(String(leaf.at(-1)));
  });
}

/** A free-form call comes only to callers who can declare such a tool. */
function isFree(answer: JsonObject, caller: string): boolean {
  return dialectOf(caller).names.custom_tool === undefined && /"type":"custom(?:_tool_call)?"/.test(JSON.stringify(answer));
}

/** Everything in a value that says something: no nulls, no empty texts, and no types, which say what kind of object it is. */
function saidIn(value: Json): number {
  if (value === null || value === '') return 0;
  if (typeof value !== 'object' || isExactNumber(value)) return 1;
  return Object.entries(value).reduce((sum: number, [key, one]) => sum + (key === 'type' ? 0 : saidIn(one as Json)), 0); // members of JSON
}

function countOf(fidelity: readonly FidelityEntry[]): number {
  return fidelity.filter(({ path }) => !path.startsWith('(')).reduce((sum, { count = 0 }) => sum + count, 0);
}

/** Translates a stream: every leaf of every event has a fate, and an answer that says something says something to the caller, too. */
export function tryStream({ id, from, stream }: SampleStream, caller: string, tally: Tally): void {
  const where = `${from} → ${caller}, streamed`;
  const asked = foldOf(from, stream);
  // A free-form call comes only to callers who can declare such a tool.
  const isFree = asked?.parts.some((part) => part.kind === 'tool-call' && part.custom === true) === true;
  if (isFree && dialectOf(caller).names.custom_tool === undefined) return;
  const { text, fidelity, error } = streamedAnswer(from, caller, stream);
  tally.tried += 1;
  const [counted, there] = [countOf(fidelity), eventsOf(stream).reduce((sum, event) => sum + saidIn(event), 0)];
  if (error === undefined && counted < there) tally.wrong.push({ sample: id, where, what: `${there} leaves, ${counted} with a fate` });
  const got = foldOf(caller, Buffer.from(text));
  // A call that the limit cut off is none for a caller whose wire takes whole ones; the reason says that there was a limit.
  if (error === undefined && saysSomething(asked) && !saysSomething(got) && got?.finish !== 'length')
    tally.wrong.push({ sample: id, where, what: 'the caller gets an empty answer' });
  if (error === undefined && asked !== undefined && got === undefined)
    tally.wrong.push({ sample: id, where, what: 'the caller’s stream has no end' });
}

function saysSomething(response: IrResponse | undefined): boolean {
  return response?.parts.some((part) => !('text' in part) || part.text !== '') === true;
}

/** The data of a stream's events, read without a dialect. */
function eventsOf(stream: Buffer): JsonObject[] {
  const cutter = new SseFrames();
  const events = [...cutter.push(stream), ...cutter.flush()]
    .map((frame) => parseJsonObject(decodeSse(frame).data))
    .filter((event) => event !== undefined);
  // Nobody reads on after the end, where one recording holds several answers.
  const end = events.findIndex(({ type }) => type === 'response.completed');
  return end === -1 ? events : events.slice(0, end + 1);
}

export function foldOf(dialect: string, stream: Buffer): IrResponse | undefined {
  const read = new EngineStream(dialectOf(dialect).stepper());
  const fold = new Fold();
  for (const event of [...read.read(stream), ...read.rest()]) fold.push(event);
  if (fold.response() === undefined) for (const event of read.end()) fold.push(event);
  return fold.response();
}
