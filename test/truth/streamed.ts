import type { JsonObject } from '../../src/base/json.ts';
import { parseJsonObject } from '../../src/base/json.ts';
import { AbpError } from '../../src/contract/errors.ts';
import type { EmulationEntry, FidelityEntry } from '../../src/contract/negotiation.ts';
import { EngineFailure } from '../../src/ir/engine-failure.ts';
import type { IrPart } from '../../src/ir/part.ts';
import type { IrResponse } from '../../src/ir/response.ts';
import { streamedAnswer, type ToldAnswer, type ToldStream, wholeAnswer } from '../support/answer-translation.ts';
import { dialectOf } from '../support/mapping.ts';
import { foldOf } from './answers.ts';
import type { SampleAnswer } from './sources.ts';
import type { Tally } from './tally.ts';
import { streamOf } from './vendor-streams.ts';

/** The words of all parts of one kind: parts of a stream may come in another order, and labels list members as they came. */
function wordsOf(parts: readonly IrPart[], kind: 'text' | 'thinking' | 'refusal'): readonly string[] {
  const said = parts.flatMap((part) => (part.kind === kind ? [part.text] : []));
  return said
    .join('')
    .split(/[\s,{}]+/)
    .filter((word) => word !== '')
    .sort();
}

/** What somebody learns from an answer: words, calls, sources, how it ended and what was used. */
function learntFrom(response: IrResponse): Record<string, unknown> {
  const { parts, finish, stopSequence, usage, alternatives = [] } = response;
  const calls = parts.flatMap((part) =>
    part.kind === 'tool-call' ? [[part.name, parseJsonObject(part.arguments) ?? part.arguments]] : [],
  );
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part] : []));
  return {
    text: wordsOf(parts, 'text'),
    thinking: wordsOf(parts, 'thinking'),
    refusal: wordsOf(parts, 'refusal'),
    calls: calls.map((call) => JSON.stringify(call)).sort(),
    sources: [...new Set(texts.flatMap(({ citations = [] }) => citations.map(({ url }) => url)))].sort(),
    tokens: texts.flatMap(({ logprobs = [] }) => logprobs),
    finish,
    stopSequence,
    usage,
    others: alternatives.map(learntFrom),
  };
}

/** Entries that say that something did not arrive as it was, by their reason; an event has members of its own. */
function reasonsIn(fidelity: readonly FidelityEntry[]): readonly string[] {
  const told = fidelity.filter(
    ({ fate, code }) => (fate === 'dropped' || fate === 'emulated') && code !== undefined && !OF_PLACES.has(code),
  );
  return [...new Set(told.map(({ fate, code, note }) => `${fate} ${code} ${note}`))].sort();
}

/** Reasons that follow from the places alone, of which a stream has others. */
const OF_PLACES: ReadonlySet<string> = new Set(['unknown_member', 'value_of_gateway', 'no_form_at_caller']);

function emulationsIn(emulations: readonly EmulationEntry[]): readonly string[] {
  return emulations.map((entry) => JSON.stringify(entry)).sort();
}

/** A sound comes in pieces, and its words apart from it. */
function isHeard({ choices }: JsonObject): boolean {
  return JSON.stringify(choices ?? null).includes('"audio":{');
}

/** A stream to Claude's callers holds as much of a call as there was before the limit. */
function isCut({ fidelity }: ToldAnswer): boolean {
  return fidelity.some(({ code }) => code === 'call_cut_off');
}

function told(from: string, caller: string, answer: JsonObject): ToldAnswer | undefined {
  try {
    return wholeAnswer(from, caller, answer);
  } catch (error) {
    if (AbpError.is(error) || error instanceof EngineFailure) return undefined;
    throw error;
  }
}

/** An answer in the caller's own words may be one that failed. */
function reread(caller: string, body: JsonObject): IrResponse | undefined {
  try {
    return dialectOf(caller).liftResponse(body);
  } catch (error) {
    if (error instanceof EngineFailure) return undefined;
    throw error;
  }
}

/** Lets the engine stream an answer and give it whole: its caller learns the same, and so does the receipt. */
export function tryStreamed({ id, from, answer }: SampleAnswer, caller: string, tally: Tally): void {
  // An answer that is still being made has no stream of its own.
  if (isHeard(answer) || answer.status === 'queued' || answer.status === 'in_progress') return;
  const whole = told(from, caller, answer);
  if (whole !== undefined && isCut(whole)) return;
  tally.tried += 1;
  const what = difference(caller, whole, streamedAnswer(from, caller, streamOf(from, answer)));
  if (what !== undefined) tally.wrong.push({ sample: id, where: `${from} → ${caller}`, what });
}

function difference(caller: string, whole: ToldAnswer | undefined, stream: ToldStream): string | undefined {
  if (whole === undefined) return stream.error === undefined ? 'whole it is an error, streamed it is not' : undefined;
  if (stream.error !== undefined) return `streamed it is an error (${stream.error}), whole it is not`;
  const [one, other] = [reread(caller, whole.body), foldOf(caller, Buffer.from(stream.text))];
  if (one === undefined || other === undefined) return one === other ? undefined : 'only one of them has an end';
  const [said, streamed] = [learntFrom(one), learntFrom(other)];
  const differs = Object.keys(said).find((key) => JSON.stringify(said[key]) !== JSON.stringify(streamed[key]));
  if (differs !== undefined)
    return `${differs}: ${JSON.stringify(said[differs])?.slice(0, 300)}, streamed ${JSON.stringify(streamed[differs])?.slice(0, 300)}`;
  const emulations = listsDiffer(emulationsIn(whole.emulations), emulationsIn(stream.emulations));
  return emulations ?? listsDiffer(reasonsIn(whole.fidelity), reasonsIn(stream.fidelity));
}

function listsDiffer(one: readonly string[], other: readonly string[]): string | undefined {
  const alone = one.find((line) => !other.includes(line));
  const added = other.find((line) => !one.includes(line));
  if (alone !== undefined) return `only whole: ${alone}`;
  return added === undefined ? undefined : `only streamed: ${added}`;
}
