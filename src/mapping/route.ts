import { AbpError } from '../contract/errors.ts';
import type { Mode } from '../contract/support.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Engine } from '../engines/engine.ts';
import { engines, findEngine } from '../engines/index.ts';

/** What a call says about where it wants to go, strongest first. */
export interface RouteWish {
  /** Engine in the path: `/e/{engine}/…`. */
  readonly pathEngine?: string;
  /** Header `X-ABP-Engine`. */
  readonly headerEngine?: string;
  readonly model?: string;
  readonly dialect: Dialect;
}

/** Where a call goes. */
export interface Route {
  readonly engine: Engine;
  readonly mode: Mode;
  /** The model name the engine gets. */
  readonly model?: string;
  /** The caller's model name had an engine prefix that must not reach the engine. */
  readonly renamed: boolean;
}

/** Path, then header, then a model prefix that names a registered engine, then the engine that is the dialect's own. */
export function route(wish: RouteWish): Route {
  const named = wish.pathEngine ?? wish.headerEngine;
  if (named !== undefined) return routeTo(knownEngine(named), wish, false);
  const slash = wish.model?.indexOf('/') ?? -1;
  const prefixed = slash > 0 ? findEngine(wish.model?.slice(0, slash) ?? '') : undefined;
  if (prefixed !== undefined) return routeTo(prefixed, { ...wish, model: wish.model?.slice(slash + 1) ?? '' }, true);
  const own = engines.find((engine) => engine.dialects[0] === wish.dialect.id && engine.endpoint !== undefined);
  if (own === undefined)
    throw new AbpError('E007', `No engine speaks the ${wish.dialect.id} dialect`, { backend_id: wish.dialect.id, reason: 'no engine' });
  return routeTo(own, wish, false);
}

function knownEngine(name: string): Engine {
  const engine = findEngine(name);
  if (engine === undefined) {
    throw new AbpError('not_found', `There is no engine "${name}". Known are ${engines.map(({ id }) => id).join(', ')}.`, { engine: name });
  }
  return engine;
}

function routeTo(engine: Engine, wish: RouteWish, renamed: boolean): Route {
  if (!engine.dialects.includes(wish.dialect.id)) {
    throw new AbpError('E007', `${wish.dialect.style} requests cannot be mapped to ${engine.name} yet`, {
      backend_id: `engine:${engine.id}`,
      reason: `no mapping from ${wish.dialect.id}`,
    });
  }
  return { engine, mode: renamed ? 'mapped' : 'passthrough', renamed, ...(wish.model === undefined ? {} : { model: wish.model }) };
}
