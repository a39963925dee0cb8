import { type Clock, systemClock } from '../base/clock.ts';
import { type Equipment, findEquipment, type Machine, type Obstacle, thisMachine } from './equipment.ts';

/** How long the answer holds that there is no sandbox: what is missing can be installed meanwhile. */
const RECHECK_MS = 60_000;

interface Finding {
  readonly until: number;
  readonly found: Promise<Equipment | Obstacle>;
}

/** Knows whether programs can be confined here. It has tried, once. */
export class Confiner {
  readonly #machine: Machine;
  readonly #clock: Clock;
  #finding: Finding | undefined;

  constructor(machine: Partial<Machine> = {}, clock: Clock = systemClock) {
    this.#machine = { ...thisMachine(), ...machine };
    this.#clock = clock;
  }

  async equipment(): Promise<Equipment | Obstacle> {
    const known = this.#finding;
    if (known !== undefined && (this.#clock.now() < known.until || !isObstacle(await known.found))) return await known.found;
    const found = this.#find();
    this.#finding = { found, until: this.#clock.now() + RECHECK_MS };
    return await found;
  }

  async #find(): Promise<Equipment | Obstacle> {
    const equipment = await findEquipment(this.#machine);
    if (isObstacle(equipment)) return equipment;
    const { probe } = await import('./probe.ts');
    const obstacle = await probe(equipment);
    if (obstacle === undefined || equipment.starter === 'node') return obstacle ?? equipment;
    // A Perl that cannot do it is no reason to do without a sandbox.
    const slower: Equipment = { ...equipment, starter: 'node' };
    return (await probe(slower)) ?? slower;
  }
}

export function isObstacle(found: Equipment | Obstacle): found is Obstacle {
  return 'reason' in found;
}

/** The one of this process. */
export const confiner = new Confiner();
