import type { Engine } from '../engines/engine.ts';
import type { Health } from '../upstream/health.ts';
import type { Load } from '../upstream/load.ts';
import type { EngineDoor } from './admission.ts';

/** Where the vendor takes logins of its own application, which are no keys of its API. */
interface LoginAddress {
  readonly origin: string;
  readonly basePath: string;
  /** The header that tells such a login from a key. */
  readonly header: string;
  /** The beginning of the API's paths that this address leaves out. */
  readonly without: string;
}

/** Tells one deployment of an engine from the others. */
export interface Place {
  readonly name: string;
  /** Where it is, in the operator's words. */
  readonly region?: string;
  /** Its part of the calls, measured by those of the others. */
  readonly weight: number;
  /** A number of its own, by which conversations choose. It stays when the server starts anew, and is the same on every node. */
  readonly salt: number;
  readonly load: Load;
}

/** One way in which this installation reaches an engine: with a key, at an address. An engine may have several. */
export interface Deployment {
  readonly engine: Engine;
  /** Its place among the engine's deployments; absent where it is the only one. */
  readonly place?: Place;
  /** Scheme, host and port; empty for an engine inside this process. */
  readonly origin: string;
  /** Path that stands before the dialect's path. */
  readonly basePath: string;
  /** The place in the world where the vendor serves calls to this address, where its host names one. */
  readonly servedIn?: string;
  /** Where calls with a login of the vendor's own application go instead. */
  readonly login?: LoginAddress;
  readonly key?: string;
  /** Headers of the configuration, names and values in turn. */
  readonly headers?: readonly string[];
  /** Whose credential goes upstream. */
  readonly auth: 'key' | 'caller' | 'none';
  /** The way in, which `Admission` opens for calls that may pass. */
  readonly door: EngineDoor;
  /** Absent for an engine inside this process. */
  readonly health?: Health;
  readonly silenceMs: number;
}
