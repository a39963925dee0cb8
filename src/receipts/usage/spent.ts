import { AbpError } from '../../contract/errors.ts';
import type { Store } from '../../store/store.ts';
import { storedTags } from '../../store/tags.ts';
import { rollupPositions, sealedReceipts } from '../../store/usage/rollups.ts';
import { addSpent, NOTHING, type SpentChoice, type SpentOfChain, type SpentOn, type SpentSums, sumSpent } from '../../store/usage/spent.ts';
import { type CallUsage, callsIn } from './call-usage.ts';
import { isUnsent, UNSENT } from './unsent.ts';

/** The keeper adds once a second; a sum that is read while it does is read again. */
const MOST_READS = 20;
const CHUNK = 500;

/** Adds up what the calls of a period have spent, which is an hour or made of whole days. */
export async function spentSince(store: Store, asked: Omit<SpentChoice, 'unsent'>): Promise<SpentSums> {
  return totalOf(await spentByChain(store, asked));
}

/** What some chains come to together. */
export function totalOf(chains: readonly SpentOfChain[]): SpentSums {
  return chains.reduce((sum, { told, taken }) => addSpent(addSpent(sum, told), taken, -1), NOTHING);
}

/** The same by the chain that has the receipts of the node: the keeper's sums, and sealed receipts that are not in them yet. */
export async function spentByChain(store: Store, asked: Omit<SpentChoice, 'unsent'>): Promise<SpentOfChain[]> {
  const choice: SpentChoice = { ...asked, unsent: UNSENT };
  let positions = await rollupPositions(store);
  for (let reads = 0; reads < MOST_READS; reads += 1) {
    const chains = new Map((await sumSpent(store, choice)).map((one) => [one.chain, one]));
    const after = await rollupPositions(store);
    const moved = after.some(({ chain, sequence }) => positions.find((one) => one.chain === chain)?.sequence !== sequence);
    positions = after;
    if (moved) continue;
    for (const position of positions) {
      const { chain } = position;
      const { told, taken } = chains.get(chain) ?? { told: NOTHING, taken: NOTHING };
      chains.set(chain, { chain, told: await withTail(store, choice, told, position), taken });
    }
    return [...chains.values()];
  }
  throw new AbpError('overloaded', 'The sums of usage change faster than they can be read; ask again.');
}

type Position = Awaited<ReturnType<typeof rollupPositions>>[number];

/** Adds receipts that the keeper has sealed and not added up yet; as a rule those of the last second. */
async function withTail(
  store: Store,
  { on, since, until }: SpentChoice,
  sums: SpentSums,
  { chain, sequence, sealed }: Position,
): Promise<SpentSums> {
  let total = sums;
  for (let after = sequence; after < sealed; ) {
    const receipts = (await sealedReceipts(store, chain, after, CHUNK)).filter((receipt) => (receipt.sequence ?? 0) <= sealed);
    const last = receipts.at(-1)?.sequence;
    if (last === undefined || last === null) return total;
    const calls = await callsIn(
      store,
      receipts.filter(({ startedAt }) => startedAt >= since && startedAt < until),
    );
    for (const call of calls) if (isOn(on, call)) total = addSpent(total, spentOf(call));
    after = last;
  }
  return total;
}

function isOn({ engine, keys, tag, agent }: SpentOn, call: CallUsage): boolean {
  const tags = tag === undefined && agent === undefined ? [] : storedTags(call.tags);
  return (
    (engine === undefined || call.engine === engine) &&
    (keys === undefined || keys.includes(call.key_id)) &&
    (tag === undefined || tags.includes(tag)) &&
    (agent === undefined || call.agent === agent.id || tags.includes(agent.tag))
  );
}

function spentOf({ cost_nano_usd, tokens_in, tokens_out, unpriced, error, reached }: CallUsage): SpentSums {
  return { nano_usd: cost_nano_usd, tokens: tokens_in + tokens_out, requests: isUnsent(error) ? reached : 1, unpriced };
}
