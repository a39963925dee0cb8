import type { Clock } from '../../base/clock.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Engine } from '../../engines/engine.ts';
import type { Health } from '../../upstream/health.ts';
import type { Deployment } from '../deployment.ts';
import type { Affinity } from './affinity.ts';
import { Pins } from './pins.ts';

/** The wish for a deployment that a call comes with. */
export interface Wish {
  /** The model that is asked for: vendors count their limits by model. */
  readonly model: string | null;
  /** The deployment that the caller named. */
  readonly named?: string | undefined;
  readonly affinity?: Affinity | undefined;
  /** Deployments that have turned this call down. */
  readonly tried: readonly Deployment[];
}

/** Calls that a deployment may have more than the others before conversations are sent elsewhere although their cache is here. */
const CROWD = 8;

/**
 * The deployments of one engine: several keys, addresses or regions that serve the same models. A conversation stays where its prompt is
 * cached; a new one goes where the fewest calls wait, measured by weight; deployments that limit or fail are left alone as long as they ask.
 */
export class Balancer {
  readonly all: readonly [Deployment, ...Deployment[]];
  readonly #clock: Clock;
  readonly #pins = new Pins();
  /** Tells calls apart that belong to no conversation. */
  #calls = 0;

  constructor(all: readonly [Deployment, ...Deployment[]], clock: Clock) {
    this.all = all;
    this.#clock = clock;
  }

  /** Whatever all deployments of the engine have in common can be read from any. */
  get first(): Deployment {
    return this.all[0];
  }

  get engine(): Engine {
    return this.first.engine;
  }

  /** How the engine fares: as a deployment of it does that may be called. */
  get health(): Health | undefined {
    return (this.all.find(({ health }) => health?.isOpen !== true) ?? this.first).health;
  }

  /** The deployment for a call. Throws where the caller names one that there is not. */
  choose(wish: Wish): Deployment {
    const { first, all } = this;
    if (wish.named !== undefined) return this.#named(wish.named);
    if (all.length === 1) return first;
    const now = this.#clock.now();
    const { affinity } = wish;
    const pinned = affinity === undefined ? undefined : this.#pins.get(affinity.key, now);
    if (pinned !== undefined && affinity !== undefined && isReady(pinned, wish, now)) {
      if (this.#isCrowded(pinned)) return this.#best(wish, now, pinned);
      this.#pins.set(affinity, pinned, now);
      return pinned;
    }
    const best = this.#best(wish, now);
    if (affinity !== undefined) this.#pins.set(affinity, best, now);
    return best;
  }

  /** Whether another deployment may take a call that these have turned down. */
  hasOther({ named, model, tried }: Omit<Wish, 'affinity'>): boolean {
    if (named !== undefined || this.all.length === 1) return false;
    const now = this.#clock.now();
    return this.all.some((one) => isReady(one, { model, tried }, now));
  }

  #named(name: string): Deployment {
    const found = this.all.find(({ place }) => place?.name === name);
    if (found !== undefined) return found;
    const names = this.all.flatMap(({ place }) => place?.name ?? []);
    const known = names.length === 0 ? 'it has only one' : `there are ${names.join(', ')}`;
    throw new AbpError('invalid_request', `${this.engine.name} has no deployment "${name}": ${known}.`, { deployment: name });
  }

  /** Of those that may be asked, one of the least busy; where none may, the one that may soonest. `but`: unless it is the only one. */
  #best(wish: Wish, now: number, but?: Deployment): Deployment {
    const ready = this.all.filter((one) => one !== but && isReady(one, wish, now));
    if (ready.length === 0) return but ?? this.#soonest(wish, now);
    const least = Math.min(...ready.map(busyness));
    const seed = wish.affinity?.key ?? this.#nextSeed();
    let best: Deployment | undefined;
    let most = Number.NEGATIVE_INFINITY;
    for (const one of ready) {
      // One call more or less is chance: among equals the conversation decides, so that other nodes choose as this one does.
      if (busyness(one) > least + 1 / weightOf(one)) continue;
      const score = scoreOf(seed, one);
      if (score <= most) continue;
      best = one;
      most = score;
    }
    return best ?? this.first;
  }

  #soonest({ model, tried }: Wish, now: number): Deployment {
    const left = this.all.filter((one) => !tried.includes(one));
    const pause = (one: Deployment): number => restOf(one, model, now);
    return (left.length === 0 ? this.all : left).reduce((best, one) => (pause(one) < pause(best) ? one : best));
  }

  /** Far busier than the others: waiting there costs more than a cache saves. */
  #isCrowded(one: Deployment): boolean {
    let calls = 0;
    let weights = 0;
    for (const other of this.all) {
      calls += callsOf(other);
      weights += weightOf(other);
    }
    return callsOf(one) > (2 * calls * weightOf(one)) / weights + CROWD;
  }

  #nextSeed(): number {
    this.#calls = (this.#calls + 1) >>> 0;
    return this.#calls;
  }
}

function callsOf({ place }: Deployment): number {
  return place?.load.outstanding ?? 0;
}

function weightOf({ place }: Deployment): number {
  return place?.weight ?? 1;
}

function busyness(one: Deployment): number {
  return callsOf(one) / weightOf(one);
}

/** Milliseconds until it may be asked, as it has said and as its circuit breaker says; 0 where it may be asked now. */
function restOf({ place, health }: Deployment, model: string | null, now: number): number {
  return Math.max(place?.load.restFor(model, now) ?? 0, health?.openFor(now) ?? 0);
}

/** It may be asked: nothing speaks against it that it or its calls have said. */
function isReady(one: Deployment, { model, tried }: Pick<Wish, 'model' | 'tried'>, now: number): boolean {
  return !tried.includes(one) && restOf(one, model, now) === 0;
}

/** Rendezvous hashing: every conversation orders the deployments in its own way, in shares by their weight. */
function scoreOf(seed: number, one: Deployment): number {
  const chance = (mix(seed ^ (one.place?.salt ?? 0)) + 1) / 0x1_0000_0001;
  return -weightOf(one) / Math.log(chance);
}

/** Spreads the bits of a 32-bit number over all of it. */
function mix(number: number): number {
  let mixed = number | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0_aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
