import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import type { ExchangeRequest, ExchangeSink, SpliceSink } from './exchange.ts';
import { Load } from './load.ts';
import { watched, watchedSplice } from './watched.ts';

const clock = { time: 1_000_000, now: () => clock.time };
const REFUSAL = Buffer.from(
  '{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.074824224s"}]}}',
);

/** What a reader hears of an answer of 429, and how long its deployment rests. */
function told(headers: readonly string[], answer: (sink: ExchangeSink) => void): { readonly heard: string[]; readonly load: Load } {
  const load = new Load(clock);
  const heard: string[] = [];
  const sink: ExchangeSink = {
    head: (status, shown) => void heard.push(`head ${status} ${shown.join(' ')}`),
    data: (chunk) => heard.push(`data ${chunk.length}`) > 0,
    end: () => void heard.push('end'),
    fail: ({ kind }) => void heard.push(`fail ${kind}`),
  };
  const transport = watched(
    (_request, inner) => {
      inner.head(429, headers);
      answer(inner);
      return { abort: () => undefined, resume: () => undefined };
    },
    { load },
  );
  transport({ model: 'pro' } as ExchangeRequest, sink); // as much of a request as is looked at
  return { heard, load };
}

const rest = (load: Load): number => load.restFor('pro', clock.now());

describe('a deployment that limits a model', () => {
  it('rests as long as the body of its refusal asks, packed or not, and the caller gets the refusal as it came', () => {
    for (const [headers, body] of [
      [['content-type', 'application/json'], REFUSAL],
      [['content-encoding', 'gzip'], gzipSync(REFUSAL)],
    ] as const) {
      const { heard, load } = told(headers, (sink) => {
        sink.data(body.subarray(0, 20));
        sink.data(body.subarray(20));
        sink.end([]);
      });
      expect([rest(load), heard]).toEqual([34_075, [`head 429 ${headers.join(' ')}`, 'data 20', `data ${body.length - 20}`, 'end']]);
      expect(load.outstanding).toBe(0);
    }
  });

  it('is believed by its headers first, and nothing is held then', () => {
    const { heard, load } = told(['retry-after', '7'], (sink) => sink.data(REFUSAL));
    expect([rest(load), heard]).toEqual([7000, ['head 429 retry-after 7', `data ${REFUSAL.length}`]]);
  });

  it('keeps nobody waiting with a refusal that is long, breaks off or does not end', () => {
    const long = told([], (sink) => sink.data(Buffer.alloc(20_000)));
    expect([rest(long.load), long.heard]).toEqual([5000, ['head 429 ', 'data 20000']]);
    const broken = told([], (sink) => sink.fail({ kind: 'broken', message: 'cut' }));
    expect([broken.heard, broken.load.outstanding]).toEqual([['head 429 ', 'fail broken'], 0]);
    vi.useFakeTimers();
    const endless = told([], (sink) => sink.data(REFUSAL));
    expect(endless.heard).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect([rest(endless.load), endless.heard]).toEqual([34_075, ['head 429 ', `data ${REFUSAL.length}`]]);
    vi.useRealTimers();
  });
});

it('a deployment that agrees to a WebSocket is well again: its next failure counts as the first', () => {
  const load = new Load(clock);
  const answers: ((sink: SpliceSink) => void)[] = [
    (sink) => sink.refuse(503, [], Buffer.alloc(0)),
    (sink) => sink.fail({ kind: 'unreachable', message: 'gone' }),
    (sink) => sink.open([], new PassThrough()),
    (sink) => sink.refuse(503, [], Buffer.alloc(0)),
  ];
  const pauses = answers.map((answer) => {
    const splice = watchedSplice((_request, sink) => {
      answer(sink);
      return { abort: () => undefined };
    }, load);
    splice({} as ExchangeRequest, { open: () => undefined, refuse: () => undefined, fail: () => undefined }); // nothing of it is looked at
    const pause = load.restFor(null, clock.now());
    clock.time += pause;
    return pause;
  });
  expect(pauses).toEqual([1000, 2000, 0, 1000]);
});
