import { AbpError } from '../../contract/errors.ts';
import { type RunId, writtenRunId } from '../../contract/run-id.ts';
import { revokeRunKeys } from '../../store/keys.ts';
import { listReceipts } from '../../store/receipts/receipts.ts';
import type { Store } from '../../store/store.ts';
import type { BodyKeeper } from '../bodies/keeper.ts';
import type { CloseTexts } from '../journal/texts.ts';
import { responseText } from '../journal/writings.ts';
import type { Chain } from '../seal/chain.ts';
import { interruption } from './build.ts';
import type { Origin } from './document.ts';
import { type PriceLists, withEstimate } from './interrupted-usage.ts';
import { closedRow, type Opening, openingOf } from './stored.ts';

/** When they are ended, and who knows what was recorded of them. */
interface Past {
  readonly now: number;
  readonly bodies?: Pick<BodyKeeper, 'remains'>;
  /** Parts of the journal could not be read: a run may have ended in them. */
  readonly damaged?: boolean;
  /** What calls are priced by. */
  readonly prices?: PriceLists;
}

/** Where it is known what a call has done and what that cost. */
interface Known {
  readonly bodies: Past['bodies'] | undefined;
  readonly prices: PriceLists;
}

const DAMAGED = 'how this run ended is not known: its process died, or the part of the journal that said so was damaged';

/** The backend of an agent's turn, as its JSON text begins. */
const AGENT = '"agent:';

/** Whether the run ends with its process. Turns of agents do not: the workers on turns end their receipts. */
export function endsWithProcess({ open }: Opening): boolean {
  return !open.get('backend').startsWith(AGENT);
}

/**
 * Ends the runs that an earlier process of this node left open. Called at start, after the old journals are drained and before the
 * first new run, so every running row of this node is an orphan. Another node may be closing them too; each is closed once.
 */
export async function closeInterrupted(
  store: Store,
  chain: Chain,
  origin: Origin,
  { now, bodies, damaged = false, prices = {} }: Past,
): Promise<number> {
  let closed = 0;
  for (let cursor: string | undefined; ; ) {
    const page = await listReceipts(store, { unfinished: true, limit: 500, cursor });
    const mine = page.items.map(openingOf).filter((opening) => opening.origin.node === origin.node && endsWithProcess(opening));
    const ended: Ended[] = [];
    for (const opening of mine)
      ended.push({ opening, close: await withRemains(opening, interruption(now, damaged ? DAMAGED : undefined), { bodies, prices }) });
    // A page of which another node has closed a run meanwhile is read again.
    if (!(await closeRuns(store, chain, ended, now))) continue;
    closed += mine.length;
    cursor = page.next_cursor;
    if (cursor === undefined) return closed;
  }
}

/** A run that is to be closed, and how. */
export interface Ended {
  readonly opening: Opening;
  readonly close: CloseTexts;
}

/**
 * Seals the ends in the chain of this node, all or none: none when somebody else has ended one of the runs. Their keys die with them:
 * an agent that has kept one must not go on calling.
 */
export async function closeRuns(store: Store, chain: Chain, ended: readonly Ended[], now: number): Promise<boolean> {
  if (ended.length === 0) return true;
  const mark = { segment: 'interrupted', node: chain.stored.node, position: 0 };
  try {
    await chain.save(store, mark, (sealer) => ended.map((one) => closedRow({ ...one.opening, close: one.close, sealer }, chain.number)));
    await revokeRunKeys(
      store,
      ended.map(({ opening }) => runOf(opening)),
      now,
    );
    return true;
  } catch (error) {
    if (AbpError.is(error) && error.code === 'conflict') return false;
    throw error;
  }
}

export function runOf({ open }: Pick<Opening, 'open'>): RunId {
  return writtenRunId(open.get('run'));
}

/** The receipt tells the part of the answer that had been recorded, and about what the call has used. */
async function withRemains({ open }: Opening, close: CloseTexts, { bodies, prices }: Known): Promise<CloseTexts> {
  const remains = open.get('recording') === '"full"' ? await bodies?.remains(runOf({ open })) : undefined;
  const told = remains === undefined ? close : close.with({ response: responseText(remains), eventCount: String(remains.eventCount) });
  return await withEstimate(open, told, remains?.eventCount ?? 0, prices);
}
