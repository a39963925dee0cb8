import { AbpError } from '../../contract/errors.ts';
import type { Route } from '../../mapping/route.ts';
import type { Deployment } from '../deployment.ts';
import type { Affinity } from './affinity.ts';
import type { Balancer } from './balancer.ts';

/** The place that a call goes to, and the places that its next tries may go to. */
export class Placement {
  readonly #deployments: ReadonlyMap<string, Balancer>;
  readonly #named: string | undefined;
  readonly #affinity: () => Affinity | undefined;
  /** Deployments that were chosen since the call last moved to another engine or began again. */
  #tried: Deployment[] = [];

  /** `affinity` is asked only where there is a choice. */
  constructor(
    deployments: ReadonlyMap<string, Balancer>,
    { named, affinity }: { readonly named?: string | undefined; readonly affinity: () => Affinity | undefined },
  ) {
    this.#deployments = deployments;
    this.#named = named;
    this.#affinity = affinity;
  }

  /** Chooses one for a try. */
  choose({ engine, model }: Pick<Route, 'engine' | 'model'>): Deployment {
    const balancer = this.#deployments.get(engine.id);
    if (balancer === undefined) throw new AbpError('internal', `engine ${engine.id} has no deployment`);
    if (balancer.all.length === 1 && this.#named === undefined) return balancer.first;
    const chosen = balancer.choose({ model: modelOf(model), named: this.#named, affinity: this.#affinity(), tried: this.#tried });
    this.#tried.push(chosen);
    return chosen;
  }

  /** Whether the engine has another deployment that may take the call. A refused key of the caller is refused everywhere. */
  hasOther({ engine, model }: Pick<Route, 'engine' | 'model'>, keyRefused: boolean): boolean {
    const balancer = this.#deployments.get(engine.id);
    if (balancer === undefined || balancer.all.length === 1 || (keyRefused && balancer.first.auth !== 'key')) return false;
    return balancer.hasOther({ model: modelOf(model), named: this.#named, tried: this.#tried });
  }

  /** The call begins again, or elsewhere: every deployment may be chosen. */
  restart(): void {
    this.#tried = [];
  }
}

function modelOf(model: string): string | null {
  return model === '' ? null : model;
}
