import { isJsonObject } from '../../src/base/json.ts';
import type { Played } from './stage.ts';

/** Everything that is known of a run that did not do what was asked of it. */
export function whyNot({ result, calls }: Played): string {
  const refused = calls.find(({ error }) => isJsonObject(error));
  const reason = isJsonObject(refused?.error) ? `${refused.error.code}: ${refused.error.message}` : undefined;
  return [result.exitReason, result.error?.code, result.error?.message, reason, result.error?.stderr.trim().split('\n').at(-1)]
    .filter((part) => part !== undefined && part !== '')
    .join('; ');
}
