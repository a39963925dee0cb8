import type { Engine } from '../engines/engine.ts';
import type { Splice, Transport } from '../upstream/exchange.ts';
import type { Health } from '../upstream/health.ts';

/** An engine as this installation reaches it. */
export interface Deployment {
  readonly engine: Engine;
  /** Scheme, host and port; empty for an engine inside this process. */
  readonly origin: string;
  /** Path that stands before the dialect's path. */
  readonly basePath: string;
  readonly key?: string;
  /** Whose credential goes upstream. */
  readonly auth: 'key' | 'caller' | 'none';
  readonly transport: Transport;
  /** How a WebSocket to it is opened; absent for an engine inside this process. */
  readonly splice?: Splice;
  /** Absent for an engine inside this process. */
  readonly health?: Health;
  readonly silenceMs: number;
}
