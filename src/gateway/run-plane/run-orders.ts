import { z } from 'zod';
import { uuidv7Hex } from '../../base/ids.ts';
import { parseJson } from '../../base/json.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { InteractionAnswer, RunHandle } from '../../runtime/runs/handle.ts';
import { deleteSetting, listSettings, setSetting } from '../../store/settings.ts';
import type { Store } from '../../store/store.ts';
import { InteractionReply, RunContinue, RunInput, RunInterrupt } from '../api/runs.ts';
import type { Gateway } from '../gateway.ts';
import { openPending, sealPending } from '../sign-in/pending.ts';

/** A wish of somebody who steers a run. */
const RunOrder = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('pause') }),
  z.strictObject({ kind: z.literal('resume') }),
  RunInterrupt.extend({ kind: z.literal('interrupt') }),
  RunContinue.extend({ kind: z.literal('continue') }),
  RunInput.extend({ kind: z.literal('input') }),
  z.strictObject({ kind: z.literal('answer'), interaction: z.string(), reply: InteractionReply, by: z.string() }),
]);
export type RunOrder = z.infer<typeof RunOrder>;

/** Does what is wanted of a run that is under way here. */
export function obey(handle: RunHandle, order: RunOrder): void {
  switch (order.kind) {
    case 'pause':
      handle.pause();
      break;
    case 'resume':
      handle.resume();
      break;
    case 'interrupt':
      handle.interrupt({ hold: order.hold });
      break;
    case 'continue':
      handle.continue(order.text);
      break;
    case 'input':
      tell(handle, order);
      break;
    case 'answer':
      handle.interaction.respond(order.interaction, { ...answerOf(order.reply), by: order.by });
      break;
  }
}

function tell(handle: RunHandle, { text, when }: RunInput): void {
  if (when === 'now') handle.send(text);
  else if (when === 'steer') handle.steer(text);
  else handle.queue(text, { when });
}

function answerOf(reply: InteractionReply): InteractionAnswer {
  if ('text' in reply) return reply;
  return { approve: reply.approve, ...(reply.reason === undefined ? {} : { reason: reply.reason }) };
}

const PREFIX = 'run_order/';
const PURPOSE = 'an order to a run';
/** An approval that nobody hears of for an hour is denied by the run itself. */
const KEPT_MS = 3_600_000;

/** Leaves an order for the node that drives the run. It is sealed: who can write to the database alone orders nothing. */
export async function leaveOrder(store: Store, run: RunId, order: RunOrder): Promise<void> {
  const sealed = sealPending(store, PURPOSE, { run, order: JSON.stringify(order) }, Date.now() + KEPT_MS);
  await setSetting(store, `${PREFIX}${run}/${uuidv7Hex()}`, sealed);
}

/** Does what was left for a run that is under way here, in the order in which it was left. */
export async function takeOrders(gateway: Gateway, run: RunId): Promise<void> {
  const { store, log } = gateway;
  const live = (await gateway.runPlane.service)?.live(run);
  if (store.kind === 'sqlite' || live === undefined) return;
  for (const { name, value } of await listSettings(store, `${PREFIX}${run}/`)) {
    await deleteSetting(store, name);
    try {
      obey(live.handle, opened(store, run, value));
    } catch (error) {
      log.warn({ error, run }, 'an order to a run that another node took could not be carried out');
    }
  }
}

function opened(store: Store, run: RunId, sealed: unknown): RunOrder {
  const pending = typeof sealed === 'string' ? openPending(store, PURPOSE, sealed) : undefined;
  const parsed = pending?.run === run && typeof pending.order === 'string' ? parseJson(pending.order) : undefined;
  return RunOrder.parse(parsed?.ok === true ? parsed.value : undefined);
}
