import { globMatch } from '../base/glob.ts';
import type { CacheTerms } from '../contract/cache-terms.ts';
import type { Capability } from '../contract/capability.ts';
import { AbpError } from '../contract/errors.ts';
import type { Recording } from '../contract/receipts/parts.ts';
import type { Mode } from '../contract/support.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { findDialect } from '../dialects/index.ts';
import type { Engine } from '../engines/engine.ts';
import { addedEngines, chooseEngine, type EngineChoice, engines, ownEngine, unknownEngine } from '../engines/index.ts';

/** A line of the route table: which models go where. The first that matches counts. */
export interface RouteRow {
  /** Model name as the caller writes it, `*` for any run of characters. */
  readonly match: string;
  /** `engine`, `engine/model`, or either with `engine:dialect`. */
  readonly to: string;
  /** Tried in order when the engine before failed and nothing has been sent yet. */
  readonly fallback: readonly string[];
  /** Tries per engine before the next one; 1 means no retry. */
  readonly attempts: number;
  /** Capabilities that may be approximated on this route. */
  readonly emulate: readonly Capability[];
  /** How much is kept of the runs of this route, where it says. */
  readonly recording?: Recording | undefined;
  /** Whether answers on this route are given again, for how long and to whom. */
  readonly cache?: CacheTerms | undefined;
}

/** The places where a call can name its engine or model, strongest first. */
export interface RouteWish {
  /** The dialect that the caller speaks; undefined for a call of ours, which an agent makes. */
  readonly dialect?: Dialect | undefined;
  readonly model: string;
  /** `/e/{engine}/…` */
  readonly pathEngine?: string | undefined;
  /** `X-ABP-Engine` */
  readonly headerEngine?: string | undefined;
  readonly table: readonly RouteRow[];
}

/** Where a call goes. */
export interface Route {
  readonly engine: Engine;
  /** The dialect the engine is spoken to in. */
  readonly target: Dialect;
  readonly mode: Mode;
  /** The model name the engine gets. */
  readonly model: string;
  /** The row that decided, when one did. */
  readonly row?: RouteRow;
}

/**
 * Path, then header, then a model prefix that names an engine, then the route table, then the engine that is the dialect's own. A row that
 * is written with such a prefix itself is about just these names and comes before it.
 */
export function route(wish: RouteWish): Route {
  const named = wish.pathEngine ?? wish.headerEngine;
  if (named !== undefined) return routeTo(wish, knownEngine(named), wish.model);
  const prefixed = splitModel(wish.model);
  const row = wish.table.find(({ match }) => globMatch(match, wish.model) && (prefixed === undefined || splitModel(match) !== undefined));
  if (row !== undefined) return routeBy(wish, row, row.to);
  return prefixed === undefined ? routeTo(wish, vendorEngine(wish), wish.model) : routeTo(wish, prefixed.choice, prefixed.model);
}

/** The places a call may go to in turn: its route, then the row's fallbacks. */
export function routes(wish: RouteWish): Route[] {
  const first = route(wish);
  return [first, ...(first.row?.fallback ?? []).map((to) => routeBy(wish, first.row, to))];
}

function routeBy(wish: RouteWish, row: RouteRow | undefined, to: string): Route {
  const split = splitModel(to) ?? { choice: knownEngine(to), model: wish.model };
  const prefixed = splitModel(wish.model);
  // An engine does not know its own name in front of a model's; another may have models whose names begin so.
  const isOwnName = split.model === wish.model && prefixed?.choice.engine === split.choice.engine;
  const found = routeTo(wish, split.choice, isOwnName ? prefixed.model : split.model);
  return row === undefined ? found : { ...found, row };
}

/** `engine/model`, where the part before the first slash names an engine; model names may hold slashes themselves. */
function splitModel(name: string): { choice: EngineChoice; model: string } | undefined {
  const slash = name.indexOf('/');
  const choice = slash > 0 ? chooseEngine(name.slice(0, slash)) : undefined;
  return choice === undefined ? undefined : { choice, model: name.slice(slash + 1) };
}

function routeTo(wish: RouteWish, { engine, dialect }: EngineChoice, model: string): Route {
  if (wish.dialect === undefined && model === '') throw incomplete(wish.model);
  const target =
    dialect === undefined && wish.dialect !== undefined && engine.dialects.includes(wish.dialect.id)
      ? wish.dialect
      : findDialect(dialect ?? engine.dialects[0] ?? '');
  if (target === undefined) throw new AbpError('internal', `the engine ${engine.id} names a dialect that does not exist`);
  return { engine, target, model, mode: target.id === wish.dialect?.id && model === wish.model ? 'passthrough' : 'mapped' };
}

function vendorEngine({ dialect, model }: RouteWish): EngineChoice {
  if (dialect === undefined) throw incomplete(model);
  const engine = ownEngine(dialect.id);
  if (engine === undefined)
    throw new AbpError('E007', `No engine speaks the ${dialect.id} dialect`, { backend_id: dialect.id, reason: 'no engine' });
  return { engine };
}

/** A call of ours must name both: there is no vendor's SDK whose own engine or default model could be meant. */
function incomplete(model: string): AbpError {
  const known = [...engines, ...addedEngines()].map(({ id }) => id).join(', ');
  return new AbpError('unprocessable', `The model "${model}" names no engine; write engine/model with one of ${known}.`, { model });
}

function knownEngine(name: string): EngineChoice {
  const choice = chooseEngine(name);
  if (choice === undefined) throw unknownEngine(name);
  return choice;
}
