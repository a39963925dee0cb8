import type { Receipt } from '../../contract/receipts/receipt.ts';
import { freshState } from '../../loop/state.ts';
import type { CloseFact } from '../../receipts/journal/facts.ts';
import { openFactOf } from '../../receipts/keeper/stored.ts';
import { countTurnEvents } from '../../store/agent-plane/session-events.ts';
import { getTurns, isEnded, type StoredTurn } from '../../store/agent-plane/turns.ts';
import type { StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import { listReceipts } from '../../store/receipts/receipts.ts';
import { turnOfRun } from '../ids.ts';
import type { SessionParts } from '../parts.ts';
import { checkpointOf } from './checkpoint.ts';
import { TURN_BACKEND, turnClosed } from './turn-receipt.ts';

const PAGE = 200;

/**
 * Ends the receipts of turns that are over although their receipts are not: the process that ended them was killed after the commit and before
 * the journal, or they went with their session. A receipt that is on its way all the same is sealed once, whichever comes first.
 * Turns that ended after `before` are left to the process that ended them. Returns how many there were.
 */
export async function settleTurns(parts: SessionParts, before: number): Promise<number> {
  let settled = 0;
  let cursor: string | undefined;
  do {
    const page = await listReceipts(parts.store, { plane: 'agent', unfinished: true, limit: PAGE, cursor });
    const open = page.items.filter(({ document, startedAt }) => isOfTurn(document) && startedAt < before);
    const turns = new Map(
      (
        await getTurns(
          parts.store,
          open.map(({ runId }) => turnOfRun(runId)),
        )
      ).map((turn) => [turn.id, turn]),
    );
    for (const row of open) {
      const end = await endOf(parts, row, turns.get(turnOfRun(row.runId)), before);
      if (end === undefined) continue;
      // The beginning again: the other one may be in the journal of a node that is gone.
      parts.calls.sink.append(openFactOf(row));
      parts.calls.sink.append(end);
      settled += 1;
    }
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return settled;
}

function isOfTurn(document: StoredReceipt['document']): boolean {
  const { backend } = document as unknown as Receipt; // rows are written by the keeper alone
  return backend.id.startsWith(TURN_BACKEND);
}

async function endOf(
  { store }: SessionParts,
  { runId, startedAt }: StoredReceipt,
  turn: StoredTurn | undefined,
  before: number,
): Promise<CloseFact | undefined> {
  if (turn === undefined) {
    const end = { turnId: turnOfRun(runId), startedAt, at: Date.now(), state: freshState(''), events: 0 };
    return { ...turnClosed({ ...end, status: 'cancelled' }), reason: 'deleted' };
  }
  const { id: turnId, status, endedAt } = turn;
  if (!isEnded(status) || endedAt === null || endedAt >= before) return undefined;
  const { state } = checkpointOf(turn.checkpoint);
  const events = await countTurnEvents(store, turn.sessionId, turnId);
  return turnClosed({ turnId, startedAt, at: endedAt, status, state, events });
}
