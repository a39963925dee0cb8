import type { CapabilityManifest } from '../contract/support.ts';
import type { Transport } from '../upstream/exchange.ts';

/** How an engine takes its key. */
export interface EngineAuth {
  readonly header: string;
  /** Stands before the key in the header, e.g. `Bearer `. */
  readonly prefix: string;
  /** Environment variables that hold the key, first one set wins. */
  readonly env: readonly string[];
}

/** Where an engine is. A path of the dialect is appended as it is. */
export interface EngineEndpoint {
  readonly url: string;
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
  /** Absent for an engine that runs inside this process. */
  readonly endpoint?: EngineEndpoint;
  readonly auth?: EngineAuth;
  readonly transport?: Transport;
}
