import { isJsonObject } from '../../base/json.ts';
import { parseShallow, tooDeep } from '../../base/json-limits.ts';
import { checkAt } from '../../contract/border.ts';
import { type EnvelopeOf, SidecarEnvelope, type SidecarReceipt } from '../../contract/work-orders/sidecar.ts';
import { receiptInLine } from '../../receipts/verify/verify-foreign.ts';
import { MOST_ARTIFACTS } from '../runs/books/told-artifacts.ts';

/** The members of a sidecar's last line that a run uses. The trace is not among them: its events were told while they happened. */
export interface FinalAccount {
  readonly refId: string;
  readonly outcome: SidecarReceipt['outcome'];
  readonly usage: SidecarReceipt['usage'];
  readonly artifacts: SidecarReceipt['artifacts'];
  readonly receiptSha256: string | null;
  /** The digest of the receipt as it was written, and whether the one that it carries is right. */
  readonly found: ReturnType<typeof receiptInLine>;
}

/** `other`: the line only looked like a final. */
export type FinalRead =
  | { readonly kind: 'final'; readonly account: FinalAccount }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'other' };

export function accountOf({ ref_id: refId, receipt }: EnvelopeOf<'final'>, line: string): FinalAccount {
  const { outcome, usage, artifacts, receipt_sha256: receiptSha256 } = receipt;
  return { refId, outcome, usage, artifacts: artifacts.slice(0, MOST_ARTIFACTS), receiptSha256, found: receiptInLine(line) };
}

/** Reads a line that is expected to be a final. */
export function readFinal(line: string): FinalRead {
  const parsed = parseShallow(line);
  if (!parsed.ok) return { kind: 'invalid', reason: unreadable(line) };
  if (!isJsonObject(parsed.value) || parsed.value.t !== 'final') return { kind: 'other' };
  const checked = checkAt(SidecarEnvelope, parsed.value);
  if (!checked.ok) return { kind: 'invalid', reason: notValid(checked.complaints) };
  return checked.value.t === 'final' ? { kind: 'final', account: accountOf(checked.value, line) } : { kind: 'other' };
}

/** Why a line was not parsed. */
function unreadable(line: string): string {
  const excess = tooDeep(line);
  return excess === undefined ? noEnvelope(line) : `it wrote a line that cannot be read: ${excess}`;
}

export function noEnvelope(line: string): string {
  return `it wrote a line that is no JSON object with a member t: ${shortened(line)}`;
}

export function notValid([first]: readonly { readonly path: string; readonly message: string }[]): string {
  return `its envelope is not valid: ${first === undefined ? '' : `${first.path}: ${first.message}`}`;
}

export function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
