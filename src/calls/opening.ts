import type { Recording } from '../contract/receipts/receipt.ts';
import type { OpenFact } from '../receipts/journal/facts.ts';
import type { CallOwner } from './call.ts';

/** How a run begins, as its journal is told; the recorder adds the run and the time. */
export type Opening = Omit<OpenFact, 'fact' | 'run' | 'at'>;

/** What each way must say itself. */
type Told = 'plane' | 'task' | 'dialect' | 'engine' | 'backend' | 'requestedModel' | 'compatibility' | 'request' | 'recording';

/** What holds where nothing else is said: nobody negotiated, nothing was approximated or lost, no engine has been sent anything. */
const NOTHING_MORE = {
  upstreamModel: null,
  mode: null,
  negotiation: null,
  emulations: [],
  fidelity: [],
  upstreamRequest: null,
  enforcement: 'enforced',
} as const satisfies Partial<Opening>;

const LEAST_FIRST: readonly Recording[] = ['off', 'digest', 'full'];

/** Of what two say about how much is kept, the lesser; one that says nothing does not count. */
export function lesserRecording(one: string | null | undefined, other: string | null | undefined): Recording | undefined {
  return LEAST_FIRST.find((level) => level === one || level === other);
}

/** The one place where the opening facts of a run are put together, on every way. */
export function openingOf({ tags, keyId, parent }: CallOwner, told: Pick<Opening, Told> & Partial<Opening>): Opening {
  return { ...NOTHING_MORE, tags, keyId, parent, ...told };
}
