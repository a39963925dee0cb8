import type { TokenRates } from '../models/rates.ts';
import type { Engine, ModelRow } from './engine.ts';
import { engineBase } from './openai-compatible/profiles.ts';

/** A model of an engine that a configuration adds. */
interface OwnModel {
  /** Its name, with `*` for any run of characters. */
  readonly id: string;
  readonly contextWindow?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly rates?: TokenRates | undefined;
}

/** An engine that a configuration adds: another one's words and abilities, with an address, a key, models and prices of its own. */
export interface OwnEngine {
  readonly id: string;
  readonly base: Engine;
  readonly models: readonly OwnModel[];
  readonly rates?: TokenRates | undefined;
}

/** The base of servers that speak Chat Completions and are none of the known ones. */
export const COMPATIBLE = 'openai-compatible';

/** The engine that `base` names in a configuration. */
export function baseEngine(name: string, builtIn: (name: string) => Engine | undefined): Engine | undefined {
  return name === COMPATIBLE ? engineBase : builtIn(name);
}

/** Keys of the vendor are in its own variables; they are not sent to an address that somebody else has named. */
export function engineOf({ id, base, models, rates }: OwnEngine): Engine {
  const { auth, ...rest } = base;
  return {
    ...rest,
    id,
    name: id,
    aliases: [],
    models: [...base.models, ...models.map(rowOf)],
    base: base.id,
    ...(rates === undefined ? {} : { rates }),
    ...(base.endpoint === undefined ? {} : { endpoint: base.endpoint.url === undefined ? {} : { url: base.endpoint.url } }),
    ...(auth === undefined ? {} : { auth: { ...auth, env: [] } }),
  };
}

function rowOf({ id, contextWindow, maxOutputTokens, rates }: OwnModel): ModelRow {
  return {
    match: id,
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(maxOutputTokens === undefined ? {} : { defaultMaxTokens: maxOutputTokens, maxOutputTokens }),
    ...(rates === undefined ? {} : { rates }),
  };
}
