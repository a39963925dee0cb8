import type { JsonObject } from '../../base/json.ts';
import { isErrorCode } from '../../contract/errors.ts';
import { EXITS, exitOfError } from '../exit-codes.ts';

/** The exit code of a run that was started. */
export function exitOfRun(result: JsonObject): number {
  const { exitReason, error } = result;
  if (exitReason === 'completed') return EXITS.ok.code;
  if (exitReason === 'aborted' || exitReason === 'interrupted') return EXITS.interrupted.code;
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  if (exitReason === 'failed' && isErrorCode(code)) return EXITS[exitOfError(code)].code;
  return EXITS.agentFailed.code;
}
