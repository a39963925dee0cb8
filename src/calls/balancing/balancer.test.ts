import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sim } from '../../engines/sim/engine.ts';
import { transport } from '../../engines/sim/transport.ts';
import { Health } from '../../upstream/health.ts';
import { Load } from '../../upstream/load.ts';
import { EngineDoor } from '../admission.ts';
import type { Deployment } from '../deployment.ts';
import { Balancer, type Wish } from './balancer.ts';

const clock = { time: 1_000_000, now: () => clock.time };

function deployment(name: string, weight = 1): Deployment {
  const place = { name, weight, salt: crc32(name), load: new Load(clock) };
  return { engine: sim, place, origin: '', basePath: '', auth: 'none', door: new EngineDoor({ transport }), silenceMs: 1 };
}

function balancer(weights: Readonly<Record<string, number>>): Balancer {
  const [first, ...more] = Object.entries(weights).map(([name, weight]) => deployment(name, weight));
  return new Balancer([first!, ...more], clock);
}

const wish = (key?: number, more: Partial<Wish> = {}): Wish => ({
  model: 'm',
  tried: [],
  affinity: key === undefined ? undefined : { key, lifetimeMs: 300_000 },
  ...more,
});
const nameOf = ({ place }: Deployment): string => place?.name ?? '';
const loadOf = (one: Deployment): Load => one.place!.load;

describe('a balancer', () => {
  it('keeps a conversation where it is, whatever else happens, for as long as its cache lives', () => {
    const all = balancer({ a: 1, b: 1, c: 1, d: 1 });
    const first = all.choose(wish(7));
    for (let at = 0; at < 3; at += 1) loadOf(first).begin();
    clock.time += 299_000;
    expect(all.choose(wish(7))).toBe(first);
    clock.time += 299_000;
    expect(all.choose(wish(7))).toBe(first);
    clock.time += 301_000;
    expect(all.choose(wish(7))).not.toBe(first);
  });

  it('divides conversations by weight while all are idle, and chooses alike on every node', () => {
    const [one, other] = [balancer({ a: 3, b: 1 }), balancer({ a: 3, b: 1 })];
    const keys = Array.from({ length: 4000 }, (_, at) => crc32(`conversation ${at}`));
    const chosen = keys.map((key) => nameOf(one.choose(wish(key))));
    expect(keys.map((key) => nameOf(other.choose(wish(key))))).toEqual(chosen);
    const share = chosen.filter((name) => name === 'a').length / keys.length;
    expect(share).toBeGreaterThan(0.72);
    expect(share).toBeLessThan(0.78);
  });

  it('sends calls without a conversation where the fewest wait', () => {
    const all = balancer({ a: 1, b: 1, c: 1, d: 1 });
    for (let at = 0; at < 400; at += 1) loadOf(all.choose(wish())).begin();
    for (const one of all.all) expect(Math.abs(loadOf(one).outstanding - 100)).toBeLessThanOrEqual(2);
  });

  it('never lets waiting calls of new conversations differ by more than two, measured by weight', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 2, maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 200 }),
        (weights, keys) => {
          const all = balancer(Object.fromEntries(weights.map((weight, at) => [`d${at}`, weight])));
          for (const key of new Set(keys)) loadOf(all.choose(wish(key))).begin();
          const busy = all.all.map((one) => loadOf(one).outstanding / one.place!.weight);
          expect(Math.max(...busy) - Math.min(...busy)).toBeLessThanOrEqual(2);
        },
      ),
    );
  });

  it('leaves a deployment alone that limits the model, and takes the conversation along', () => {
    const all = balancer({ a: 1, b: 1 });
    const first = all.choose(wish(7));
    loadOf(first).answered(429, ['retry-after', '20'], 'm');
    const second = all.choose(wish(7));
    expect(second).not.toBe(first);
    clock.time += 21_000;
    expect(all.choose(wish(7))).toBe(second);
    expect(all.choose(wish(7, { model: 'other' }))).toBe(second);
  });

  it('asks the one that may be asked soonest where all rest, and none twice for one call', () => {
    const all = balancer({ a: 1, b: 1 });
    const [a, b] = all.all as unknown as [Deployment, Deployment]; // there are two
    loadOf(a).answered(429, ['retry-after', '60'], 'm');
    loadOf(b).answered(429, ['retry-after', '20'], 'm');
    expect(all.choose(wish(7))).toBe(b);
    expect(all.choose(wish(7, { tried: [b] }))).toBe(a);
    expect(all.hasOther(wish(7, { tried: [a] }))).toBe(false);
  });

  it('asks one that rests rather than one that its circuit breaker leaves alone for longer', () => {
    const [a, b] = [{ ...deployment('a'), health: new Health({ failures: 1, openMs: 60_000 }, clock) }, deployment('b')];
    const all = new Balancer([a, b], clock);
    a.health.answered(500);
    loadOf(b).answered(429, ['retry-after', '20'], 'm');
    for (const key of [7, 8, 9]) expect(all.choose(wish(key))).toBe(b);
    clock.time += 60_000;
    expect(new Set([1, 2, 3, 4, 5, 6, 7, 8].map((key) => all.choose(wish(key)))).size).toBe(2);
  });

  it('sends a conversation elsewhere while its deployment is far busier than the others, and lets it come back', () => {
    const all = balancer({ a: 1, b: 1, c: 1 });
    const first = all.choose(wish(7));
    for (let at = 0; at < 60; at += 1) loadOf(first).begin();
    const spilled = all.choose(wish(7));
    expect(spilled).not.toBe(first);
    for (let at = 0; at < 60; at += 1) loadOf(first).end();
    expect(all.choose(wish(7))).toBe(first);
  });

  it('takes the deployment that a caller names, and says which there are where it names none of them', () => {
    const all = balancer({ eu: 1, us: 1 });
    expect(nameOf(all.choose(wish(7, { named: 'us' })))).toBe('us');
    expect(() => all.choose(wish(7, { named: 'mars' }))).toThrow('Sim has no deployment "mars": there are eu, us.');
    expect(all.hasOther(wish(7, { named: 'us' }))).toBe(false);
  });
});
