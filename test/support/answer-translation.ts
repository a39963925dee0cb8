import type { Json, JsonObject } from '../../src/base/json.ts';
import { parseJsonObject } from '../../src/base/json.ts';
import { FailedAnswer } from '../../src/calls/answers/answer-errors.ts';
import { StreamTranslator, type Translation, translateWhole } from '../../src/calls/answers/translate.ts';
import type { EmulationEntry, FidelityEntry } from '../../src/contract/negotiation.ts';
import type { AnswerContext } from '../../src/dialects/dialect.ts';
import { AnswerChanges } from '../../src/mapping/answer-changes.ts';
import type { AnswerChange } from '../../src/mapping/answer-filter.ts';
import { dialectOf } from './mapping.ts';

const CONTEXT: AnswerContext = { runHex: 'ab'.repeat(16), createdAtMs: 0, model: 'asked-model', includeUsage: true, query: '?alt=sse' };

/** What an answer meets on its way: changes, and what its dialect repeats of the request. */
export interface Way {
  readonly changes?: readonly AnswerChange[];
  readonly echo?: JsonObject | undefined;
}

function translation(engine: string, caller: string, { changes = [], echo }: Way): Translation {
  const context = echo === undefined ? CONTEXT : { ...CONTEXT, echo };
  return { engine: dialectOf(engine), caller: dialectOf(caller), filter: new AnswerChanges(changes), context };
}

export interface ToldAnswer {
  readonly body: JsonObject;
  readonly fidelity: readonly FidelityEntry[];
  readonly emulations: readonly EmulationEntry[];
}

/** A whole answer as a caller of another dialect gets it, and its account. */
export function wholeAnswer(engine: string, caller: string, body: Json, way: Way = {}): ToldAnswer {
  try {
    const { text, record } = translateWhole(Buffer.from(JSON.stringify(body)), translation(engine, caller, way));
    return { body: parseJsonObject(text) ?? {}, ...record };
  } catch (thrown) {
    throw thrown instanceof FailedAnswer ? thrown.reason : thrown;
  }
}

export interface ToldStream {
  readonly text: string;
  readonly fidelity: readonly FidelityEntry[];
  readonly emulations: readonly EmulationEntry[];
  readonly error: string | undefined;
}

/** The same for a stream, given as its bytes or as the data of its events. */
export function streamedAnswer(engine: string, caller: string, stream: Buffer | readonly Json[], way: Way = {}): ToldStream {
  const translator = new StreamTranslator(translation(engine, caller, way));
  const bytes = Buffer.isBuffer(stream) ? stream : Buffer.from(stream.map((data) => `data: ${JSON.stringify(data)}\n\n`).join(''));
  const text = Buffer.concat(translator.bytesOf(`${translator.push(bytes)}${translator.end()}`)).toString('utf8');
  return { text, ...translator.record([]), error: translator.observed().error };
}

/** The entry of a place in an account. */
export function entryAt(fidelity: readonly FidelityEntry[], path: string): FidelityEntry | undefined {
  return fidelity.find((entry) => entry.path === path);
}
