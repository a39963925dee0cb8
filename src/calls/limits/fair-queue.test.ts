import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { Settlement } from '../admission.ts';
import type { Call } from '../call.ts';
import { FairQueue, MustWait, type WaitingPlace } from './fair-queue.ts';
import { rateCheck } from './rate-check.ts';

const ENDING = { status: 'completed', usage: null, upstreamModel: null, nanoUsd: null } as const;

/** Calls of several callers to one engine whose limit they share. */
class Scene {
  readonly #check;
  readonly running: { readonly caller: string; readonly settle: Settlement }[] = [];
  readonly waiting = new Map<RunId, WaitingPlace>();
  readonly began: string[] = [];
  #runs = 0;

  /** `own`: what each caller is held to besides. */
  constructor(limits: object, bounds = { waitMs: 10_000, most: 100 }, own?: object) {
    const engine = { id: 'engine sim', name: 'The engine sim', limits };
    this.#check = rateCheck(({ owner: { keyId } }) => {
      return own === undefined ? [engine] : [{ id: `${keyId}`, name: 'This caller', limits: own }, engine];
    }, bounds).check;
  }

  /** A call arrives; the refusal where it is refused at once. */
  arrive(caller: string): AbpError | undefined {
    this.#runs += 1;
    return this.#ask(caller, `run_${this.#runs}` as RunId, true);
  }

  #ask(caller: string, runId: RunId, mayWait: boolean): AbpError | undefined {
    const call = {
      runId,
      way: 'relay',
      owner: { keyId: caller, parent: null, tags: [] },
      engine: 'sim',
      model: 'm',
      mayWait,
    } as unknown as Call; // as much of a call as is looked at
    try {
      const verdict = this.#check(call);
      if (verdict instanceof AbpError) return verdict;
      this.running.push({ caller, settle: verdict! });
      this.began.push(caller);
    } catch (error) {
      if (!(error instanceof MustWait)) throw error;
      this.waiting.set(runId, error.place);
      void error.place.turn.then(() => {
        this.waiting.delete(runId);
        if (this.#ask(caller, runId, false) !== undefined) this.began.push(`${caller} refused`);
      });
    }
    return undefined;
  }

  async end(at = 0): Promise<void> {
    this.running.splice(at, 1)[0]?.settle(ENDING);
    await vi.advanceTimersByTimeAsync(0);
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('calls over a limit', () => {
  it('wait for room, and callers take turns however many calls one of them has', async () => {
    const scene = new Scene({ concurrency: 1 });
    for (const caller of ['a', 'a', 'a', 'a', 'b', 'c', 'b']) expect(scene.arrive(caller)).toBeUndefined();
    expect(scene.began).toEqual(['a']);
    for (let at = 0; at < 6; at += 1) await scene.end();
    expect(scene.began).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
  });

  it('are refused with the time to come back once they have waited long enough', async () => {
    const scene = new Scene({ concurrency: 1 });
    scene.arrive('a');
    scene.arrive('b');
    await vi.advanceTimersByTimeAsync(9999);
    expect(scene.began).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(2);
    expect(scene.began).toEqual(['a', 'b refused']);
  });

  it('leave the queue with their callers, and give back the room that was taken for them', async () => {
    const scene = new Scene({ concurrency: 1 });
    for (const caller of ['a', 'b', 'c']) scene.arrive(caller);
    const [b] = [...scene.waiting.values()];
    b?.leave();
    await vi.advanceTimersByTimeAsync(0);
    expect(scene.began).toEqual(['a', 'b refused']);
    await scene.end();
    expect(scene.began).toEqual(['a', 'b refused', 'c']);
  });

  it('wait for the minute to pass where calls are counted by the minute', async () => {
    const scene = new Scene({ requests_per_minute: 60 }, { waitMs: 5000, most: 100 });
    for (let at = 0; at < 62; at += 1) expect(scene.arrive('a')).toBeUndefined();
    expect(scene.began).toHaveLength(60);
    await vi.advanceTimersByTimeAsync(1100);
    expect(scene.began).toHaveLength(61);
    await vi.advanceTimersByTimeAsync(1100);
    expect(scene.began).toHaveLength(62);
  });

  it('leave a quarter of the places to others that come, too', async () => {
    const scene = new Scene({ concurrency: 4 });
    scene.arrive('b');
    await scene.end();
    for (let at = 0; at < 6; at += 1) scene.arrive('a');
    expect(scene.began).toEqual(['b', 'a', 'a', 'a']);
    scene.arrive('b');
    await vi.advanceTimersByTimeAsync(0);
    expect(scene.began).toEqual(['b', 'a', 'a', 'a', 'b']);
  });

  it('are refused at once where too many wait, or where the room is known to come too late', () => {
    const full = new Scene({ concurrency: 1 }, { waitMs: 10_000, most: 2 });
    expect(['a', 'a', 'a', 'b'].map((caller) => full.arrive(caller)?.code)).toEqual([undefined, undefined, undefined, 'rate_limited']);
    const late = new Scene({ requests_per_minute: 1 }, { waitMs: 10_000, most: 100 });
    expect(['a', 'a'].map((caller) => late.arrive(caller)?.details.retry_after_s)).toEqual([undefined, 60]);
  });

  it('take turns also where some of them wait for a limit of their own as well', async () => {
    const scene = new Scene({ concurrency: 2 }, { waitMs: 10_000, most: 100 }, { concurrency: 1 });
    for (const caller of ['a', 'b', 'a', 'c', 'b', 'a', 'd']) scene.arrive(caller);
    expect(scene.began).toEqual(['a', 'b']);
    for (let at = 0; at < 5; at += 1) await scene.end();
    expect(scene.began).toEqual(['a', 'b', 'a', 'c', 'b', 'd', 'a']);
    expect(scene.waiting.size).toBe(0);
  });

  it('never exceed the limit, are all answered, and go in turns, whatever the arrivals and ends', async () => {
    const acts = fc.array(
      fc.oneof(
        fc.constantFrom('a', 'b', 'c').map((caller) => ({ caller })),
        fc.nat(5).map((end) => ({ end })),
      ),
      { maxLength: 120 },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), acts, async (concurrency, all) => {
        const scene = new Scene({ concurrency });
        let arrived = 0;
        for (const act of all) {
          if ('caller' in act) {
            scene.arrive(act.caller);
            arrived += 1;
          } else await scene.end(Math.min(act.end, Math.max(0, scene.running.length - 1)));
          expect(scene.running.length).toBeLessThanOrEqual(concurrency);
          // Nobody has more than three quarters of the places while others come, too.
          const least = Math.max(1, Math.floor((concurrency * 3) / 4));
          expect(scene.waiting.size === 0 || scene.running.length >= least).toBe(true);
        }
        for (let at = 0; scene.running.length > 0 && at < 1000; at += 1) await scene.end();
        expect(scene.began).toHaveLength(arrived);
      }),
      { numRuns: 60 },
    );
  });
});

it('asks no more of those who wait than find room, however many they are', () => {
  const queue = new FairQueue({ waitMs: 10_000, most: 20_000 });
  let [places, asked] = [0, 0];
  const full = () => {
    asked += 1;
    return places > 0 ? undefined : { limit: 'engine sim', waitMs: undefined };
  };
  const take = () => {
    places -= 1;
    return () => undefined;
  };
  for (let at = 0; at < 5000; at += 1)
    queue.enter({ run: `run_${at}` as RunId, caller: `caller ${at}`, limit: 'engine sim', blocked: () => undefined, full, take });
  expect(asked).toBe(5000);
  places = 3;
  queue.pump(['engine sim']);
  expect([asked, queue.size]).toEqual([5004, 4997]);
});
