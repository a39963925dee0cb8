import { describe, expect, test } from 'vitest';
import { isJsonObject } from '../../src/base/json.ts';
import { decodeSse, SseFrames } from '../../src/base/sse.ts';
import { claude } from '../../src/dialects/claude/dialect.ts';
import type { IrEvent } from '../../src/ir/event.ts';
import { Fold } from '../../src/ir/fold.ts';
import { Ledger } from '../../src/ir/ledger.ts';
import type { IrResponse } from '../../src/ir/response.ts';
import { exchangesOf, hasCorpus, NO_CORPUS } from '../support/corpus.ts';
import { withoutPaths } from '../support/ir.ts';
import { needing } from '../support/needs.ts';

const messages = exchangesOf('anthropic').filter(({ url }) => /\/v1\/messages(\?|$)/.test(url) || url === '');
const lower = { lacks: new Set<never>(), traits: new Set<string>(), defaultMaxTokens: 4096 };
const lift = (body: Parameters<typeof claude.liftRequest>[0]) => claude.liftRequest(body, { ledger: new Ledger() });

function steps(stream: Buffer): IrEvent[] {
  const frames = new SseFrames();
  const stepper = claude.stepper();
  return [...[...frames.push(stream), ...frames.flush()].flatMap((frame) => stepper.step(decodeSse(frame))), ...stepper.end()];
}

function fold(events: readonly IrEvent[]): Fold {
  const all = new Fold();
  for (const event of events) all.push(event);
  return all;
}

/** What Claude tells beside the counts of an answer (its passes, those of a compaction, an advisor) goes to the receipt alone. */
function withoutBeside(answer: IrResponse): IrResponse {
  const { beside = [], passes = [], ...details } = answer.usage.details ?? {};
  if (beside.length + passes.length === 0) return answer;
  const { details: _details, ...usage } = answer.usage;
  return { ...answer, usage: Object.keys(details).length === 0 ? usage : { ...usage, details } };
}

describe.skipIf(!hasCorpus)(needing('recorded Claude exchanges', hasCorpus ? undefined : NO_CORPUS), () => {
  const requests = messages.filter(({ request }) => isJsonObject(request) && request.messages !== undefined);
  const answers = messages.filter(({ body, status }) => status < 300 && isJsonObject(body) && body.type === 'message');
  // Some recordings hold two answers in one file.
  const streams = messages.filter(({ stream, status }) => status < 300 && stream?.toString().split('event: message_start').length === 2);

  test('there are enough of them to mean something', () => {
    expect([requests.length, answers.length, streams.length].every((count) => count >= 20)).toBe(true);
  });

  // A vendor answers 400 to some recorded requests; those may fail to lift, the others may not.
  test.each(requests.filter(({ status }) => status < 300))('$id lifts, and lift after lower is a fixed point', ({ request }) => {
    const once = lift(request ?? null);
    expect(withoutPaths(lift(claude.lowerRequest(once, lower).body))).toEqual(withoutPaths(once));
  });

  test.each(answers)('$id lifts and lowers to an answer that lifts to the same', ({ body }) => {
    const once = claude.liftResponse(body ?? null);
    const again = claude.liftResponse(
      claude.lowerResponse(once, { runHex: '0', createdAtMs: 0, model: once.model, includeUsage: true, query: '' }),
    );
    expect(withoutPaths(again)).toEqual(withoutPaths(withoutBeside(once)));
    expect(claude.observeBody(JSON.stringify(body)).usage).toEqual(once.usage);
  });

  test.each(streams)('$id steps to one answer, which re-emitted gives the same answer again', ({ stream, features }) => {
    const events = steps(stream ?? Buffer.alloc(0));
    const before = fold(events);
    if (features.includes('midstream-error') || features.includes('truncated-stream')) {
      expect(before.error).toBeDefined();
      return;
    }
    const response = before.response();
    expect(response).toBeDefined();
    const emitter = claude.emitter({ runHex: '0', createdAtMs: 0, model: response?.model ?? '', includeUsage: true, query: '' });
    const again = fold(steps(Buffer.from(events.map((event) => emitter.emit(event)).join(''))));
    expect(withoutPaths(again.response())).toEqual(withoutPaths(response));
  });
});
