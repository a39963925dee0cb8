import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'smol-toml';
import { parseJsonObject } from '../../base/json.ts';
import type { CacheTerms } from '../../contract/cache-terms.ts';
import { builtInEngine } from '../../engines/index.ts';
import { COMPATIBLE } from '../../engines/own.ts';

/** A value of the other gateway that became something else here, or nothing. */
export interface Remark {
  /** The path of the value in the file. */
  readonly where: string;
  readonly what: string;
}

/** A variable that the server must see. */
interface NeededVariable {
  readonly name: string;
  /** The variable that the other gateway read it from. */
  readonly from: string;
}

export interface DraftModel {
  readonly id: string;
  readonly contextWindow?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly price?: { readonly input: number; readonly output: number } | undefined;
}

/** One of several keys or addresses that share the calls of an upstream. */
interface DraftDeployment {
  readonly name: string;
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  readonly keyVariable?: string | undefined;
  readonly weight?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An upstream as the other gateway describes it. */
export interface Upstream {
  /** A built-in engine, or `openai-compatible`. */
  readonly base: string;
  readonly url?: string | undefined;
  /** The key itself. */
  readonly key?: string | undefined;
  /** The variable that holds it. */
  readonly keyVariable?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeoutS?: number | undefined;
  readonly breaker?: Readonly<Record<string, number>> | undefined;
  readonly limits?: Readonly<Record<string, number>> | undefined;
  readonly deployments?: readonly DraftDeployment[] | undefined;
  /** Something that sets it apart from others at the same address: the limits of one model. */
  readonly apart?: string | undefined;
}

interface DraftEngine extends Upstream {
  readonly id: string;
  readonly models: Map<string, DraftModel>;
}

export interface DraftRoute {
  readonly match: string;
  readonly to: string;
  readonly fallback?: readonly string[];
  readonly attempts?: number;
  readonly emulate?: readonly string[];
  readonly cache?: CacheTerms;
}

/** A configuration in the making, with all that is to be said about it. */
export class Draft {
  readonly #engines: DraftEngine[] = [];
  readonly #variables: NeededVariable[] = [];
  readonly remarks: Remark[] = [];
  readonly #spokenOf = new Set<string>();
  readonly routes: DraftRoute[] = [];
  readonly budgets: Record<string, unknown>[] = [];
  server: Record<string, string | number | boolean> = {};
  auth: Record<string, string | number | boolean> = {};
  limits: Record<string, number> = {};

  /** Says what has become of a value, or of all that is in it. */
  remark(where: string, what: string): void {
    this.remarks.push({ where, what });
    this.#spokenOf.add(where);
  }

  /** Says something of a place in the file; what becomes of the values in it is another question. */
  note(where: string, what: string): void {
    this.remarks.push({ where, what });
  }

  /** Whether there is a remark on a value: on one of the places that it is in. */
  speaksOf(places: readonly string[]): boolean {
    return places.some((place) => this.#spokenOf.has(place));
  }

  /** The variables that the server needs, with those that hold their values today. */
  get variables(): readonly NeededVariable[] {
    return this.#variables;
  }

  /** The id of the engine for an upstream: the built-in one where nothing keeps it from being that, else one of its own. */
  engine(upstream: Upstream, name: string, model?: DraftModel): string {
    const known = this.#engines.find(({ id: _id, models: _models, ...one }) => isDeepStrictEqual(one, upstream));
    const engine = known ?? this.#added(upstream, name);
    if (model !== undefined && engine.base !== engine.id) engine.models.set(model.id, { ...engine.models.get(model.id), ...model });
    return engine.id;
  }

  /** Whether the engine of this id is one of the file's own, which says what models it has. */
  listsModels(id: string): boolean {
    return this.#engines.some((engine) => engine.id === id && engine.base !== id);
  }

  /** The engines that stand for a provider of the other gateway. */
  enginesLike(base: string): string[] {
    return this.#engines.filter((engine) => engine.base === base).map(({ id }) => id);
  }

  #added(upstream: Upstream, name: string): DraftEngine {
    const isPlain = upstream.base !== COMPATIBLE && upstream.apart === undefined && !this.#taken(upstream.base);
    const engine = { ...upstream, id: isPlain ? upstream.base : this.#free(name), models: new Map<string, DraftModel>() };
    this.#engines.push(engine);
    for (const { name: own, keyVariable } of engine.deployments ?? [])
      if (keyVariable !== undefined) this.#variables.push({ name: keyVariableOf(engine.id, own), from: keyVariable });
    const shared = engine.deployments !== undefined;
    const variable = engine.keyVariable ?? (engine.key === undefined && !shared ? builtInEngine(engine.base)?.auth?.env[0] : undefined);
    if (variable !== undefined) this.#needKey(engine.id, variable);
    return engine;
  }

  /** A built-in engine reads the variable of its vendor by itself. */
  #needKey(id: string, from: string): void {
    if (builtInEngine(id)?.auth?.env.includes(from)) return;
    this.#variables.push({ name: keyVariableOf(id), from });
  }

  #taken(id: string): boolean {
    return this.#engines.some((engine) => engine.id === id);
  }

  /** A name that no other engine has, made of the wished one. */
  #free(name: string): string {
    const plain = name
      .toLowerCase()
      .slice(0, 50)
      .split(/[^a-z0-9_]/)
      .filter((part) => part !== '')
      .join('-');
    const base = /^[a-z]/.test(plain) ? plain : `engine-${plain}`;
    for (let number = 1; ; number += 1) {
      const id = number === 1 ? base : `${base}-${number}`;
      if (builtInEngine(id) === undefined && !this.#taken(id)) return id;
    }
  }

  /** The configuration as TOML. */
  toml(): string {
    const engines = Object.fromEntries(
      this.#engines.map((engine) => [engine.id, tableOf(engine)]).filter(([, table]) => Object.keys(table ?? {}).length > 0),
    );
    const parts = { server: this.server, auth: this.auth, limits: this.limits, engines, routes: this.routes, budgets: this.budgets };
    const filled = Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0);
    // Undefined members would be refused; JSON leaves them out.
    return stringify(parseJsonObject(JSON.stringify(Object.fromEntries(filled))) ?? {});
  }
}

/** The variable of the key of an engine, or of one of its deployments. */
function keyVariableOf(...names: readonly string[]): string {
  return `ABP_ENGINE_${names.join('_').toUpperCase().replaceAll('-', '_')}_KEY`;
}

/** The table of an engine, with the members that a configuration has. */
function tableOf({ id, base, url, key, headers, timeoutS, breaker, limits, models, deployments }: DraftEngine): Record<string, unknown> {
  const listed = [...models.values()].map(modelOf);
  const members = {
    base: id === base ? undefined : base,
    url,
    key,
    headers,
    timeout_s: timeoutS,
    breaker,
    limits,
    deployments: deployments?.map(({ keyVariable: _variable, ...one }) => one),
    models: listed.length === 0 ? undefined : listed,
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function modelOf({ id, contextWindow, maxOutputTokens, price }: DraftModel): unknown {
  if (contextWindow === undefined && maxOutputTokens === undefined && price === undefined) return id;
  return { id, context_window: contextWindow, max_output_tokens: maxOutputTokens, price };
}
