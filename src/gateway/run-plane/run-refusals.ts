import { isJsonObject } from '../../base/json.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { EngineWord } from '../../runtime/gateway-port.ts';
import { findRunKey } from '../../store/keys.ts';
import { listReceipts } from '../../store/receipts/receipts.ts';
import type { Gateway } from '../gateway.ts';

/** After so many calls that reached no engine, a run is not worth another try. */
const MOST_REFUSED = 3;

/** Whether the engine of a run has been reached, by the receipts of its calls so far. */
export async function engineWord({ store }: Pick<Gateway, 'store'>, run: RunId): Promise<EngineWord> {
  const key = await findRunKey(store, run);
  if (key === undefined) return { state: 'unknown' };
  const { items } = await listReceipts(store, { key: key.id, plane: 'gateway', limit: 10 });
  const errors = items
    .filter(({ completedAt }) => completedAt !== null)
    .map(({ document: { error } }) => (isJsonObject(error) ? error : {}));
  if (errors.some(({ code }) => code !== 'E007')) return { state: 'reached' };
  const [last] = errors;
  if (last === undefined) return { state: 'unknown' };
  return { state: errors.length < MOST_REFUSED ? 'unknown' : 'refused', message: String(last.message) };
}
