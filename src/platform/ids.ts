import { uuidv7Hex } from '../base/ids.ts';
import { parseRunId, type RunId } from '../contract/run-id.ts';

/** A fresh id: what it is of, and a UUIDv7. */
export function newId(kind: 'msg' | 'turn' | 'approval' | 'worker' | 'call'): string {
  return `${kind}_${uuidv7Hex()}`;
}

/** The run that everything a turn does belongs to; the two have the same digits. */
export function runOfTurn(turnId: string): RunId | null {
  return parseRunId(turnId.slice('turn_'.length)) ?? null;
}

/** The turn that a run would be of. */
export function turnOfRun(run: RunId): string {
  return `turn_${run.slice('run_'.length)}`;
}
