import { parentPort } from 'node:worker_threads';
import { canonicalText, sha256 } from '../../base/canonical-json.ts';
import { type Json, parseJson } from '../../base/json.ts';
import { decodedBody } from '../../receipts/bodies/encoding.ts';
import { differences, without } from './compare.ts';
import type { Compared, Comparison } from './comparing.ts';
import type { RequestBytes } from './source.ts';

/** Longer requests are not compared: their values would take more memory than the thread has. */
const LONGEST = 4 * 1024 * 1024;

function jsonIn({ bytes, headers }: RequestBytes<Uint8Array>, ignoring: readonly string[]): Json | undefined {
  const body = decodedBody(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), headers, LONGEST);
  if (body.length > LONGEST) return undefined;
  const parsed = parseJson(body.toString('utf8'));
  return parsed.ok ? without(parsed.value, ignoring) : undefined;
}

function compared(work: Comparison): Compared {
  const { ignoring } = work;
  if (work.kind === 'shape') {
    const value = jsonIn(work.request, ignoring);
    return { kind: 'shape', shape: value === undefined ? undefined : sha256(canonicalText(value)) };
  }
  const [one, other] = work.requests;
  return { kind: 'differences', differs: differences(jsonIn(one, ignoring), jsonIn(other, ignoring), work.most) };
}

parentPort?.on('message', (work: Comparison) => {
  let outcome: Compared;
  try {
    outcome = compared(work);
  } catch (error) {
    outcome = { kind: 'broken', message: error instanceof Error ? error.message : String(error) };
  }
  parentPort?.postMessage(outcome);
});
