import { type Clock, systemClock } from '../../base/clock.ts';
import type { Equipment } from './confined-process.ts';
import type { Machine } from './equipment.ts';
import { DEFAULT_LIMITS, type Execution, type Limits, NEVER_BEGAN } from './execution.ts';
import { Places } from './places.ts';

const PROCESSES = 2;
/** How long the answer holds that there is no Python: what is missing can be installed meanwhile. */
const RECHECK_MS = 60_000;

interface Finding {
  readonly until: number;
  readonly found: Promise<Equipment | string>;
}

/**
 * Python behind bubblewrap: namespaces of its own for processes, network, users and files, a root of nothing but its libraries, a filter of
 * system calls, hard limits, and one folder in memory that can be written. There is no Python where any of that cannot be had.
 */
export class PythonSandbox {
  readonly #machine: Machine;
  readonly #clock: Clock;
  readonly #places = new Places(PROCESSES);
  #finding: Finding | undefined;

  constructor(machine: Partial<Machine> = {}, clock: Clock = systemClock) {
    this.#machine = { environment: process.env, platform: process.platform, arch: process.arch, ...machine };
    this.#clock = clock;
  }

  /** Why Python cannot run here; undefined when it can. */
  async unavailable(): Promise<string | undefined> {
    const found = await this.#equipment();
    return typeof found === 'string' ? found : undefined;
  }

  async run(code: string, options: { readonly limits?: Partial<Limits>; readonly signal?: AbortSignal } = {}): Promise<Execution> {
    const equipment = await this.#equipment();
    if (typeof equipment === 'string') return { status: 'crashed', stdout: '', truncated: false, error: equipment };
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    const { runConfined } = await import('./confined-process.ts');
    const { signal } = options;
    return (await this.#places.hold(() => runConfined({ equipment, code, limits, signal }), signal)) ?? NEVER_BEGAN;
  }

  async #equipment(): Promise<Equipment | string> {
    const known = this.#finding;
    if (known !== undefined && (this.#clock.now() < known.until || typeof (await known.found) !== 'string')) return await known.found;
    const found = this.#find();
    this.#finding = { found, until: this.#clock.now() + RECHECK_MS };
    return await found;
  }

  /** Loaded at the first question: a server that nobody asks for Python does not need it. */
  async #find(): Promise<Equipment | string> {
    const { findEquipment } = await import('./equipment.ts');
    return await findEquipment(this.#machine);
  }
}
