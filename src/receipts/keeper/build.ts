import { sha256OfBytes } from '../../base/canonical-json.ts';
import { jsonText } from '../journal/fact-texts.ts';
import { type CloseTexts, NOT_ENDED, type OpenTexts } from '../journal/texts.ts';
import { aroundSeal, contentText, type Origin, runTexts } from './document.ts';

/** A receipt as it is stored: its RFC 8785 text in UTF-8, the hash of what the run did, and its place in the chain. */
export interface Built {
  readonly document: Buffer;
  readonly sha256: string | null;
  readonly sequence: number | null;
}

/** Gives receipts their places in a chain, one after the other. */
export interface Sealer {
  /** Seals a document given as the texts before and after the members of its seal, a byte per character. */
  seal(before: string, after: string): { readonly document: Buffer; readonly sequence: number };
}

/** All there is to know of a run that has ended. */
export interface Ended {
  readonly open: OpenTexts;
  readonly close: CloseTexts;
  readonly origin: Origin;
  readonly sealer: Sealer;
}

/** The receipt of a run that has begun: no end, no hash, no seal. */
export function runningReceipt(open: OpenTexts, origin: Origin): Built {
  const { before, after } = aroundSeal(runTexts(open, NOT_ENDED, origin));
  return { document: Buffer.from(`${before}null${after}`, 'latin1'), sha256: null, sequence: null };
}

/** The receipt of a run that has ended, sealed. */
export function closedReceipt({ open, close, origin, sealer }: Ended): Built {
  const run = runTexts(open, close, origin);
  const hash = sha256OfBytes(contentText(run));
  const { before, after } = aroundSeal({ ...run, sha256: `"${hash}"` });
  const { document, sequence } = sealer.seal(`${before}{`, `}${after}`);
  return { document, sha256: hash, sequence };
}

const DIED = 'the process that served this run ended before the run did';

/** How a run ended whose process died: it began, and it did not end in an orderly way. */
export function interruption(at: number, message: string = DIED): CloseTexts {
  const error = jsonText({ code: 'internal', message });
  return NOT_ENDED.with({ at: String(at), status: '"failed"', reason: '"interrupted"', error });
}

/** The model the engine says it was, else the one it was sent. */
export function upstreamModel(open: OpenTexts, close: CloseTexts): string {
  const model = close.get('upstreamModel');
  return model === 'null' ? open.get('upstreamModel') : model;
}
