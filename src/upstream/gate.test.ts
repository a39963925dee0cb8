import { expect, test } from 'vitest';
import type { ExchangeRequest, ExchangeSink, Transport } from './exchange.ts';
import { gated, type TurnedDown } from './gate.ts';

const request: ExchangeRequest = { method: 'POST', origin: '', path: '/', headers: [], body: null, silenceMs: 1, runHex: '' };

/** Plays `script` into a gate; what the caller's sink got and what was turned down. */
function play(
  script: (sink: ExchangeSink) => void,
  takesOver: boolean | Promise<boolean> = true,
): { got: string[]; turnedDown: TurnedDown[]; aborted: boolean } {
  const got: string[] = [];
  const turnedDown: TurnedDown[] = [];
  let aborted = false;
  let sink: ExchangeSink | undefined;
  const transport: Transport = (_request, one) => {
    sink = one;
    const abort = (): void => {
      aborted = true;
    };
    return { abort, resume: () => undefined };
  };
  const takeOver = (reason: TurnedDown): boolean | Promise<boolean> => {
    turnedDown.push(reason);
    return takesOver;
  };
  gated(transport, takeOver)(request, {
    head: (status) => void got.push(`head ${status}`),
    data: (chunk) => got.push(`data ${chunk}`) > 0,
    end: () => void got.push('end'),
    fail: ({ kind }) => void got.push(`fail ${kind}`),
  });
  if (sink !== undefined) script(sink);
  return { got, turnedDown, aborted };
}

test('a good answer passes through', () => {
  const { got, turnedDown } = play((sink) => {
    sink.head(200, []);
    sink.data(Buffer.from('x'));
    sink.end([]);
  });
  expect(got).toEqual(['head 200', 'data x', 'end']);
  expect(turnedDown).toEqual([]);
});

test('a status that may pass is turned down with the engine’s own hint, and nothing of it reaches the caller', () => {
  const { got, turnedDown, aborted } = play((sink) => {
    sink.head(429, ['Retry-After', '2']);
    sink.data(Buffer.from('x'));
    sink.end([]);
  });
  expect(got).toEqual([]);
  expect(aborted).toBe(true);
  expect(turnedDown).toEqual([{ status: 429, message: 'the engine answered 429', retryAfterMs: 2000 }]);
});

test('an error that will not pass is the caller’s', () => {
  expect(play((sink) => sink.head(400, [])).got).toEqual(['head 400']);
});

test('a failure before the first byte is turned down, one after it is not', () => {
  const before = play((sink) => sink.fail({ kind: 'unreachable', message: 'refused' }));
  expect([before.got, before.turnedDown.length]).toEqual([[], 1]);
  const after = play((sink) => {
    sink.head(200, []);
    sink.fail({ kind: 'broken', message: 'cut' });
  });
  expect([after.got, after.turnedDown.length]).toEqual([['head 200', 'fail broken'], 0]);
});

test('a caller who leaves is not tried again', () => {
  expect(play((sink) => sink.fail({ kind: 'aborted', message: 'gone' })).got).toEqual(['fail aborted']);
});

test('a failed answer that no other try replaces is the caller’s as it came', () => {
  const answered = play((sink) => {
    sink.head(429, []);
    sink.data(Buffer.from('x'));
    sink.end([]);
  }, false);
  expect([answered.got, answered.aborted]).toEqual([['head 429', 'data x', 'end'], false]);
  expect(play((sink) => sink.fail({ kind: 'unreachable', message: 'refused' }), false).got).toEqual(['fail unreachable']);
});

test('a failed answer waits while another try is looked for', async () => {
  const script = (sink: ExchangeSink): void => {
    sink.head(503, []);
    expect(sink.data(Buffer.from('x'))).toBe(false);
    sink.end([]);
  };
  const refused = play(script, Promise.resolve(false));
  const taken = play(script, Promise.resolve(true));
  const left = play((sink) => {
    sink.head(503, []);
    sink.fail({ kind: 'aborted', message: 'gone' });
  }, Promise.resolve(false));
  expect(refused.got).toEqual([]);
  await new Promise(setImmediate);
  expect([refused.got, taken.got, left.got]).toEqual([['head 503', 'data x', 'end'], [], ['fail aborted']]);
});
