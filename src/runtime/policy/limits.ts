import type { Adapter } from '../../adapters/adapter.ts';
import { isObstacle } from '../../confinement/confiner.ts';
import type { GroupPlaces } from '../../confinement/control-groups.ts';
import { ROOM_LIMITS, type RoomLimits } from '../../confinement/room.ts';
import type { RunLimits } from '../../contract/runs/run-limits.ts';
import { bySystem, type Enforcement, type Means, type Verdict } from './enforcement.ts';

const MIB = 1024 * 1024;
const NAMES = ['processes', 'memoryMb', 'processMemoryMb', 'diskMb'] as const satisfies readonly (keyof RunLimits)[];

/** The limits of the operator and those of a run together: the lower one counts. */
export function joinLimits(operator: RunLimits, run: RunLimits): RunLimits {
  const lower = NAMES.flatMap((name) => {
    const said = [operator[name], run[name]].filter((limit) => limit !== undefined);
    return said.length === 0 ? [] : [[name, Math.min(...said)] as const];
  });
  return Object.fromEntries(lower);
}

/** Every limit as the rule that stands in a receipt. */
export function limitRules(limits: RunLimits): string[] {
  return NAMES.flatMap((name) => (limits[name] === undefined ? [] : [ruleOf(name, limits[name])]));
}

const ruleOf = (name: keyof RunLimits, limit: number): string => `limits.${name}: ${limit}`;

export type LimitMeans = Pick<Means, 'sandbox' | 'staged' | 'external'> & { readonly groups: GroupPlaces };

/** Who holds each limit. */
export function limitEnforcement(limits: RunLimits, means: LimitMeans): Enforcement {
  const judged = NAMES.flatMap((name) =>
    limits[name] === undefined ? [] : [{ rule: ruleOf(name, limits[name]), verdict: HOLDERS[name](means) }],
  );
  return {
    hidden: [],
    rules: judged.flatMap(({ rule, verdict }) => ('unheld' in verdict ? [] : [{ rule, ...verdict }])),
    unheld: judged.flatMap(({ rule, verdict }) => ('unheld' in verdict ? [{ rule, reason: verdict.unheld }] : [])),
  };
}

const GROUP = 'a control group of the kernel';
const OUTSIDE: Verdict = { by: 'external', detail: 'by the word of the operator' };

const HOLDERS: Readonly<Record<keyof RunLimits, (means: LimitMeans) => Verdict>> = {
  processes: (means) => bySystem(means, means.groups.pids === undefined ? countedBy(means) : GROUP),
  memoryMb: (means) => {
    if (means.groups.memory !== undefined) return bySystem(means, `${GROUP}; swap counts`);
    if (means.external) return OUTSIDE;
    return {
      unheld:
        'memory of all processes together needs a control group, and none can be made here. Limit each process with processMemoryMb, or run the backplane as a systemd service',
    };
  },
  processMemoryMb: (means) => bySystem(means, 'a limit of each process; several may have as much each'),
  diskMb: (means) => {
    if (means.staged)
      return { by: 'backplane', detail: 'the staged copy is measured while the agent works, and the run ended where it has grown beyond' };
    return means.external ? OUTSIDE : { unheld: 'only a staged copy is measured. Run with --staged' };
  },
};

/** The limit on processes that every process inherits: in a room of an ordinary user it counts that room alone. */
function countedBy({ sandbox }: LimitMeans): string {
  const shared = sandbox !== undefined && !isObstacle(sandbox) && sandbox.identity !== undefined;
  return shared ? 'a limit of each process; other processes of the same user count too' : 'a limit of the user namespace';
}

/** A remark for the caller of a run whose limit of memory is below what the agent reserves at its start; undefined where it fits. */
export function reserveRemark(
  { processMemoryMb }: RunLimits,
  { displayName, reservesMb = 0 }: Pick<Adapter, 'displayName' | 'reservesMb'>,
) {
  if (processMemoryMb === undefined || processMemoryMb >= reservesMb) return undefined;
  return `${displayName} reserves ${reservesMb} MiB for a process when it starts, and may not start with a limit of ${processMemoryMb} MiB`;
}

/** Whether a limit asks for what only the operating system can hold. */
export function limitsNeedSystem({ processes, memoryMb, processMemoryMb }: RunLimits): boolean {
  return [processes, memoryMb, processMemoryMb].some((limit) => limit !== undefined);
}

/**
 * The limits that every process of a room inherits. Those that a control group holds for all together are not among them. A limit that
 * somebody set holds whatever the agent reserves.
 */
export function roomLimits({ processes, processMemoryMb, diskMb }: RunLimits, groups: GroupPlaces, reservesMb = 0): Partial<RoomLimits> {
  const memoryBytes = processMemoryMb === undefined ? Math.max(reservesMb * MIB, ROOM_LIMITS.memoryBytes) : processMemoryMb * MIB;
  return {
    ...(processes !== undefined && groups.pids === undefined && { processes }),
    memoryBytes,
    ...(diskMb !== undefined && { fileBytes: diskMb * MIB }),
  };
}
