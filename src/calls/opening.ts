import type { Recording } from '../contract/receipts/parts.ts';
import type { OpenFact } from '../receipts/journal/facts.ts';
import { type Call, planeOf } from './call.ts';

/** How a run begins, as its journal is told; the recorder adds the run and the time. */
export type Opening = Omit<OpenFact, 'fact' | 'run' | 'at'>;

/** Facts that the call itself does not say. */
type Told = 'task' | 'requestedModel' | 'compatibility' | 'request' | 'recording';

/** Facts of a call that nobody negotiated, approximated or sent yet; each way puts its own over them. */
const NOTHING_MORE = {
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
export function openingOf(
  { way, owner, engine, model, dialect, mode }: Omit<Call, 'runId'>,
  told: Pick<Opening, Told> & Partial<Opening>,
): Opening {
  const { tags, keyId, parent } = owner;
  const backend = engine === null ? 'gateway' : `engine:${engine}`;
  return { ...NOTHING_MORE, plane: planeOf(way), dialect, engine, backend, upstreamModel: model, mode, tags, keyId, parent, ...told };
}
