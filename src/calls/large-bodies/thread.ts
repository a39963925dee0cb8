import { parentPort } from 'node:worker_threads';
import { sha256 } from '../../base/canonical-json.ts';
import { mostValues } from '../../base/json-limits.ts';
import { AbpError } from '../../contract/errors.ts';
import { addEngines } from '../../engines/index.ts';
import { EngineFailure } from '../../ir/engine-failure.ts';
import { type Prepared, prepare } from '../../mapping/prepare.ts';
import { readRequest } from '../../mapping/request-text.ts';
import { scanBody } from '../../mapping/scan/scan.ts';
import { patchText } from '../../mapping/thinking-override.ts';
import { judgeJson } from '../../negotiation/post-processing.ts';
import { FailedAnswer } from '../answers/answer-errors.ts';
import { seenAnswer } from '../answers/seen-answer.ts';
import { translateWhole } from '../answers/translate.ts';
import type { ExplainedCall } from '../explained.ts';
import { findReader } from '../meters/meters.ts';
import {
  type Failure,
  type Job,
  type Outcome,
  sendOff,
  type TravellingPrepared,
  translationOf,
  unnamed,
  unnamedPatch,
} from './protocol.ts';

function done({ work, bytes: data, added }: Job): Outcome | Promise<Outcome> {
  addEngines(added);
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (work.kind === 'prepare')
    return { kind: 'prepare', prepared: travelling(prepare(bytes, unnamed(work.input))), textSha256: sha256(bytes) };
  if (work.kind === 'patch') return { kind: 'patch', ...patchText(bytes, unnamedPatch(work.input)) };
  if (work.kind === 'observe')
    return { kind: 'observe', seen: seenAnswer(bytes, work.reader === undefined ? undefined : findReader(work.reader), work.streamed) };
  if (work.kind === 'judge') return { kind: 'judge', verdict: judgeJson({ ...work.asked, said: bytes.toString('utf8') }) };
  if (work.kind === 'explain') return explained(bytes, work.input);
  assertReadable(bytes);
  const { text, ...told } = translateWhole(bytes, translationOf(work.translation), work.translation.headers);
  return { kind: 'translate', answer: { ...told, text: Buffer.from(text, 'utf8') } };
}

/** The most values that we read of an answer: they take many times the memory of its bytes. */
const MOST_IN_ANSWER = 4_000_000;

function assertReadable(body: Buffer): void {
  if (mostValues(body) > MOST_IN_ANSWER)
    throw new AbpError('engine_failed', `The engine's answer holds more than ${MOST_IN_ANSWER} values.`);
}

/** Explanations estimate costs, and the price lists are twenty megabytes: they are loaded with the first one. */
async function explained(bytes: Buffer, input: ExplainedCall): Promise<Outcome> {
  const request = readRequest(bytes, scanBody(bytes).values);
  const { explainCall } = await import('../explained.ts');
  const { error, ...explanation } = explainCall(bytes, input, request);
  return { kind: 'explain', text: JSON.stringify(explanation), ...(error === undefined ? {} : { error: sendOff(error) }) };
}

function travelling({ error, ...prepared }: Prepared): TravellingPrepared {
  return { ...prepared, ...(error === undefined ? {} : { error: sendOff(error) }) };
}

function bytesOf(outcome: Outcome): Uint8Array | undefined {
  if (outcome.kind === 'prepare') return outcome.prepared.upstream?.body;
  if (outcome.kind === 'patch') return outcome.body;
  return outcome.kind === 'translate' ? outcome.answer.text : undefined;
}

/** Bytes that fill their memory change hands without a copy. */
function handedOver(outcome: Outcome): ArrayBuffer[] {
  const bytes = bytesOf(outcome);
  return bytes?.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : [];
}

function failed(thrown: unknown): Outcome {
  if (!(thrown instanceof FailedAnswer)) return failure(thrown);
  return { kind: 'answer-failed', reason: failure(thrown.reason), facts: thrown.facts };
}

function failure(thrown: unknown): Failure {
  if (thrown instanceof EngineFailure) return { kind: 'engine-failed', error: thrown.error };
  if (AbpError.is(thrown)) return { kind: 'refused', error: sendOff(thrown) };
  return { kind: 'broken', message: thrown instanceof Error ? thrown.message : String(thrown) };
}

async function outcomeOf(job: Job): Promise<Outcome> {
  try {
    return await done(job);
  } catch (thrown) {
    return failed(thrown);
  }
}

parentPort?.on('message', async (job: Job) => {
  const outcome = await outcomeOf(job);
  parentPort?.postMessage(outcome, handedOver(outcome));
});
