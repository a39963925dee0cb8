import { globMatch } from '../base/glob.ts';
import type { CapabilityManifest } from '../contract/support.ts';
import type { Concept } from '../ir/concept.ts';
import { ratesText, type TokenRates } from '../models/rates.ts';
import type { BodyShelf } from '../store/recordings/body-shelf.ts';
import type { Store } from '../store/store.ts';
import type { Transport } from '../upstream/exchange.ts';

/** How an engine takes its key. */
interface EngineAuth {
  readonly header: string;
  /** Stands before the key in the header, e.g. `Bearer `. */
  readonly prefix: string;
  /** Environment variables that hold the key, first one set wins. */
  readonly env: readonly string[];
  /** It also serves without a key: a server on one's own machine. */
  readonly optional?: true;
}

/** Where an engine is. A path of the dialect is appended as it is. */
interface EngineEndpoint {
  /** Absent where every customer has an address of their own. */
  readonly url?: string;
  /** Where the vendor takes logins of its own application, which its API does not; `header` tells them, `without` is no part of the paths there. */
  readonly login?: { readonly url: string; readonly header: string; readonly without: string };
}

/** Hosts of a vendor that serve in one place of the world, whose name the first group is. */
const REGIONAL_HOSTS = [/^([a-z]{2})\.api\.openai\.com$/];

/** The place in the world where all calls to an address are served, as far as its host tells: the vendor's price may go by it. */
export function servedIn({ hostname }: URL): string | undefined {
  return REGIONAL_HOSTS.map((host) => host.exec(hostname)?.[1]).find((place) => place !== undefined);
}

/** A row for a model, or a family of models, with everything in which it differs from its engine. */
export interface ModelRow {
  /** Model name with `*` for any run of characters; rows are tried in order and every matching one counts. */
  readonly match: string;
  /** Levels that replace the engine's. They may only lower them: the engine's manifest is the ceiling. */
  readonly manifest?: CapabilityManifest;
  readonly lacks?: readonly Concept[];
  readonly traits?: readonly string[];
  readonly defaultMaxTokens?: number;
  readonly maxOutputTokens?: number;
  readonly contextWindow?: number;
  readonly rates?: TokenRates;
}

/** Services that an engine inside this process gets. */
export interface Inside {
  readonly store: Store;
  /** Recorded bodies, and the node that has them. */
  readonly shelf: BodyShelf;
  readonly node: string;
  /** The key of a run under way; null for a caller without one. */
  readonly keyOf: (runHex: string) => string | null;
  /** Resolves once every run that has ended by now is in the store. */
  readonly settled: () => Promise<void>;
  /** Whether each deployment remembers the prompts that it has seen. */
  readonly promptCache?: boolean | undefined;
  readonly file?: string | undefined;
  readonly timing?: 'original' | 'none' | undefined;
  readonly ignore?: readonly string[] | undefined;
}

/** An upstream that serves dialects natively. Data only: everything that varies between vendors and nothing that does not. */
export interface Engine {
  readonly id: string;
  /** The name in sentences: "is not supported by Gemini backend". */
  readonly name: string;
  readonly aliases: readonly string[];
  /** Dialects the engine speaks itself, the preferred one first. */
  readonly dialects: readonly string[];
  readonly manifest: CapabilityManifest;
  /** Levels that replace those of the manifest for callers of other dialects, by the dialect that the engine is spoken to in. */
  readonly speaking?: Readonly<Record<string, CapabilityManifest>>;
  readonly models: readonly ModelRow[];
  /** The provider's name in the price data; absent where nothing costs anything. */
  readonly prices?: string;
  /** Prices of the configuration, which take the place of the list's. */
  readonly rates?: TokenRates;
  /** Of an engine that the configuration adds: the id of the one that it is like. */
  readonly base?: string;
  /** A model name to list for an engine without a price list, where any name will do. */
  readonly sample?: string;
  /** Absent for an engine that runs inside this process. */
  readonly endpoint?: EngineEndpoint;
  readonly auth?: EngineAuth;
  /** The environment variable that names a file it serves from. */
  readonly fileVariable?: string;
  /** Makes the transport of an engine that runs inside this process. */
  readonly transport?: (inside: Inside) => Transport;
}

/** The price list that calls of a model are billed by: rates of its row, rates of the engine, else the list of the vendor. */
export function pricesOf(engine: Engine, model: string | null): string | undefined {
  const { rates, prices } = engine;
  const row = model === null ? undefined : ratedRows(engine).findLast(({ match }) => globMatch(match, model));
  const stated = row?.rates ?? rates;
  return stated === undefined ? prices : ratesText(stated);
}

/** The list of each engine that has one, by its id. */
export function priceLists(engines: readonly Engine[]): Readonly<Record<string, string>> {
  const told = engines.map((engine) => [engine.id, pricesOf(engine, null)] as const);
  return Object.fromEntries(told.flatMap(([id, list]) => (list === undefined ? [] : [[id, list]])));
}

const rated = new WeakMap<Engine, readonly ModelRow[]>();

/** Rows with rates of their own. Most engines have none, and every call asks. */
function ratedRows(engine: Engine): readonly ModelRow[] {
  const known = rated.get(engine) ?? engine.models.filter(({ rates }) => rates !== undefined);
  rated.set(engine, known);
  return known;
}
