import type { z } from 'zod';
import type { Parts } from '../../contract/receipts/parts.ts';
import type { RECEIPT_FIELDS, UNSEEN_FIELDS } from '../../contract/receipts/receipt-fields.ts';
import type { RunId } from '../../contract/run-id.ts';

/** Size and SHA-256 of a body. */
export interface Digest {
  readonly sha256: string;
  readonly bytes: number;
}

/** The rows of the receipt's table, those inside of groups among them. */
type RowsOf<T> = { [K in keyof T]: T[K] extends { readonly parts: infer P } ? P[keyof P] : T[K] }[keyof T];
type Row = RowsOf<typeof RECEIPT_FIELDS> | RowsOf<typeof UNSEEN_FIELDS>;
type OpenRow = Extract<Row, { readonly from: 'open' | 'both' }>;
type CloseRow = Extract<Row, { readonly from: 'close' | 'both' }>;

/** Names of what a fact of either kind says. */
export type OpenName = OpenRow['fact'];
export type CloseName = CloseRow['fact'];

type Unchangeable<T> = T extends readonly (infer E)[] ? readonly E[] : T;
type ValueOf<R> = R extends { readonly schema: (parts: Parts) => infer S extends z.ZodType } ? Unchangeable<z.infer<S>> : never;
type Optional = { readonly optional: true };
/** Facts that the beginning of a run tells, and the end may tell better. */
type Amended = { readonly closingSince: number };
type Said<R extends { readonly fact: string }, LeftOut = Optional> = {
  readonly [F in Exclude<R, LeftOut> as F['fact']]: ValueOf<F>;
} & {
  readonly [F in Extract<R, LeftOut> as F['fact']]?: ValueOf<F> | undefined;
};

/** A run was accepted. Written before the engine is called, so that no call goes unrecorded. Its values are rows of the receipt's table. */
export type OpenFact = { readonly fact: 'open'; readonly run: RunId; readonly at: number } & Said<OpenRow>;

/** A run reached its end. The offsets are milliseconds after `OpenFact.at`; a cost of null leaves it to the keeper to compute one. */
export type CloseFact = {
  readonly fact: 'close';
  readonly run: RunId;
  readonly at: number;
  readonly status: 'completed' | 'failed' | 'cancelled';
} & Said<CloseRow, Optional | Amended>;

export type Fact = OpenFact | CloseFact;
