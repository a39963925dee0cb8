import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../base/canonical-json.ts';
import type { JournalGap } from '../../contract/receipts/chain.ts';
import { entriesOfKind } from '../../store/receipts/chain-lines.ts';
import type { Store } from '../../store/store.ts';
import type { Damage } from '../journal/sift.ts';
import { parsedText } from '../seal/canonical-text.ts';
import type { Chain } from '../seal/chain.ts';
import { append, entryTime } from '../seal/entry.ts';

const KIND = 'gap';
const FOLDER = 'damaged';

/** Files that were set aside from the journal of a home and are still there; an operator who has looked at it may delete it. */
export function damagedParts(journalFolder: string): readonly string[] {
  try {
    return readdirSync(join(journalFolder, FOLDER)).sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Where the journal was damaged. */
export interface DamagedSegment {
  readonly folder: string;
  readonly segment: string;
  readonly damage: readonly Damage[];
}

/**
 * Sets damaged bytes of the journal aside and names the gap in the chain, so that a verifier learns that facts were lost and
 * where. Done again after a crash, it finds the entry and adds none.
 */
export async function keepGaps(store: Store, chain: Chain, { folder, segment, damage }: DamagedSegment): Promise<void> {
  if (damage.length === 0) return;
  const { number } = await chain.current(store);
  const named = new Set((await entriesOfKind(store, number, KIND)).flatMap(placesIn));
  const added = damage.filter(({ offset }) => !named.has(placeOf(segment, offset)));
  if (added.length === 0) return;
  mkdirSync(join(folder, FOLDER), { recursive: true, mode: 0o700 });
  for (const { offset, text } of added)
    writeFileSync(join(folder, FOLDER, placeOf(segment, offset)), text, { encoding: 'latin1', mode: 0o600 });
  await append(store, chain, {
    kind: KIND,
    members: { at: entryTime(), segment, gaps: added.map(gapOf) },
    signer: chain.signer,
    work: async () => undefined,
  });
}

function gapOf({ offset, text }: Damage): JournalGap['gaps'][number] {
  return { offset, bytes: text.length, sha256: sha256(Buffer.from(text, 'latin1')) };
}

function placeOf(segment: string, offset: number): string {
  return `${segment}-${offset}`;
}

function placesIn(document: string): string[] {
  const { segment, gaps } = parsedText(document) as unknown as JournalGap; // an entry of ours
  return gaps.map(({ offset }) => placeOf(segment, offset));
}
