import type { RunId } from '../../../contract/run-id.ts';
import type { GatewayPort } from '../../gateway-port.ts';
import { type Ending, unreachedEnding } from './outcome.ts';

const LOOK_MS = 1000;

/** Ends a run whose engine cannot be reached: agents try in silence for minutes. It stops looking once the engine has been reached. */
export class EngineWatch {
  #timer: NodeJS.Timeout | undefined;

  /** Undefined where the gateway does not tell: a server of an earlier version. */
  static start(port: GatewayPort, run: RunId, onRefused: (message: string) => void): EngineWatch | undefined {
    if (port.engineWord === undefined) return undefined;
    const watch = new EngineWatch();
    watch.#look(port, run, onRefused);
    return watch;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #look(port: GatewayPort, run: RunId, onRefused: (message: string) => void): void {
    const again = (): void => {
      if (this.#timer !== undefined) this.#look(port, run, onRefused);
    };
    this.#timer = setTimeout(() => {
      port.engineWord?.(run).then((word) => {
        if (word.state === 'refused') onRefused(word.message);
        else if (word.state === 'unknown') again();
        // A database that is away for a moment is asked again.
      }, again);
    }, LOOK_MS);
    // It must not keep a process whose run is over.
    this.#timer.unref();
  }
}

/** The ending of an agent that gave up by itself: where its calls found no engine, that is why, whatever words it has for it. */
export async function explainedByEngine(ending: Ending, port: GatewayPort, run: RunId): Promise<Ending> {
  const isPlain = ending.error?.code === 'INTERNAL' || ending.error?.code === 'AGENT_CRASH';
  if (!isPlain || port.engineWord === undefined) return ending;
  // The last calls are waited for.
  await port.spent(run, 'ended');
  const word = await port.engineWord(run);
  return word.state === 'reached' || word.message === undefined ? ending : unreachedEnding(ending, word.message);
}
