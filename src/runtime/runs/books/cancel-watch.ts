import type { RunId } from '../../../contract/run-id.ts';
import type { GatewayPort } from '../../gateway-port.ts';

/** Often enough that a cancelled run has ended within five seconds of the wish. */
const LOOK_MS = 500;

/** Ends a run that was cancelled at another process than the one that drives it. */
export class CancelWatch {
  #timer: NodeJS.Timeout | undefined;

  /** Undefined where the gateway cannot be told by others. */
  static start(port: GatewayPort, run: RunId, onCancelled: () => void): CancelWatch | undefined {
    if (port.cancelled === undefined) return undefined;
    const watch = new CancelWatch();
    watch.#look(port, run, onCancelled);
    return watch;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #look(port: GatewayPort, run: RunId, onCancelled: () => void): void {
    const again = (): void => {
      if (this.#timer !== undefined) this.#look(port, run, onCancelled);
    };
    this.#timer = setTimeout(() => {
      // A database that is away for a moment is asked again.
      port.cancelled?.(run).then((wanted) => (wanted ? onCancelled() : again()), again);
    }, LOOK_MS);
    // It must not keep a process whose run is over.
    this.#timer.unref();
  }
}
