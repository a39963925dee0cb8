import { isoTime } from '../../base/clock.ts';
import type { ChainTip } from '../../store/receipts/chain.ts';
import type { Signer } from './seal-keys.ts';

/** The facts of a head, besides its signature. */
export interface HeadFacts {
  readonly node: string;
  readonly at: number;
  /** The first entry that no earlier head covers. */
  readonly from: number;
  readonly tip: ChainTip;
}

/** The signed head of a chain as its RFC 8785 text. */
export function signedHead({ node, at, from, tip }: HeadFacts, signer: Signer): string {
  const message =
    `{"at":"${isoTime(at)}","count":${tip.sequence},"from":${from},"hash":"${tip.hash}","key_id":"${signer.keyId}","kind":"head"` +
    `,"node":"${node}","sequence":${tip.sequence}}`;
  return `${message.slice(0, -1)},"signature":"${signer.sign(message)}"}`;
}
