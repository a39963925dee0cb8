import type { RunId } from '../../contract/run-id.ts';
import type { BodyKeeping } from '../bodies/keeper.ts';
import type { BucketState } from '../bodies/uploads.ts';
import type { Fact } from '../journal/facts.ts';
import type { RemovalOrder } from '../remove.ts';
import type { Rotation } from '../seal/rotate.ts';
import type { Spent } from '../usage/sealed-usage.ts';
import type { PriceLists } from './interrupted-usage.ts';
import type { NodeTiming } from './node-watch.ts';

/** The data that the keeper thread is started with. */
export interface KeeperData {
  readonly homePath: string;
  readonly databaseUrl?: string;
  readonly version: string;
  /** Encrypts the private keys that sign receipts. */
  readonly keySecret?: string;
  /** When this process began to write its journal. */
  readonly journalSince: number;
  /** Receipts that ended longer ago are archived; never, unless it is said. */
  readonly retentionDays?: number;
  /** And those that ended even longer ago are deleted. */
  readonly deletionDays?: number;
  readonly keeping: BodyKeeping;
  readonly prices: PriceLists;
  readonly nodes: NodeTiming;
  /** One Int32: PENDING when something was appended since the keeper last looked, URGENT when somebody waits for it. */
  readonly signal: SharedArrayBuffer;
}

export const IDLE = 0;
export const PENDING = 1;
export const URGENT = 2;

/** Tasks of the keeper thread between batches, as the one sealer of the node. */
export type KeeperTask =
  | { readonly kind: 'rotate' }
  | { readonly kind: 'audit' }
  | { readonly kind: 'erase-bodies'; readonly runs: readonly RunId[] }
  | ({ readonly kind: 'remove' } & RemovalOrder);

/** The results, by the kind of the task. */
export interface TaskResults {
  readonly rotate: Rotation;
  /** How many records of the audit log were sealed. */
  readonly audit: number;
  readonly remove: readonly RunId[];
  readonly 'erase-bodies': number;
}

/** Messages to the keeper thread. */
export type KeeperOrder =
  | { readonly kind: 'stop' }
  /** Answered at once, also while the database is away. */
  | { readonly kind: 'learn'; readonly id: number; readonly secrets: readonly string[] }
  | { readonly kind: 'task'; readonly id: number; readonly task: KeeperTask };

/** Whether the chain is whole; `was-cut` when an earlier process has noticed that it is not, and said so in an entry. */
export type ChainState = 'ok' | 'was-cut' | 'cut';

/** Messages of the keeper thread. */
export type KeeperReport =
  | { readonly kind: 'ready'; readonly interrupted: number }
  | { readonly kind: 'settled'; readonly runs: readonly RunId[]; readonly spent?: readonly Spent[] }
  | { readonly kind: 'stalled'; readonly message: string }
  /** Work that had failed goes on again. */
  | { readonly kind: 'resumed' }
  /** The signed head of the chain, once a minute while it grows. */
  | { readonly kind: 'head'; readonly document: string }
  /** Work beside the writing of receipts failed and is tried again. */
  | { readonly kind: 'upkeep-fault'; readonly message: string }
  /** Bodies of these runs are to be erased, by an order of another node. */
  | { readonly kind: 'erase-asked'; readonly runs: readonly RunId[] }
  /** Bodies are not stored; receipts are. */
  | { readonly kind: 'bodies-fault'; readonly message: string }
  /** How far the bucket is behind the disk. */
  | { readonly kind: 'bucket'; readonly state: BucketState }
  /** Space that recorded bodies take on the disk. */
  | { readonly kind: 'recorded'; readonly bytes: number }
  /** Parts of the journal could not be read; they were set aside and named in the chain. */
  | { readonly kind: 'damaged'; readonly segment: string; readonly bytes: number }
  /** Entries were taken off the end of the chain or put there: before this process began, or noticed by it. */
  | { readonly kind: 'chain'; readonly state: Exclude<ChainState, 'ok'> }
  | { readonly kind: 'removed'; readonly runs: readonly RunId[] }
  /** Runs of a lost node were closed by this one. */
  | { readonly kind: 'closed-for'; readonly node: string; readonly runs: readonly RunId[] }
  | { readonly kind: 'done'; readonly id: number; readonly result: TaskResults[keyof TaskResults] }
  | { readonly kind: 'refused'; readonly id: number; readonly message: string }
  | { readonly kind: 'stopped' };

export interface KeeperOptions {
  readonly homePath: string;
  readonly journalFolder: string;
  readonly databaseUrl?: string;
  /** Encrypts the private keys that sign receipts. */
  readonly keySecret?: string | undefined;
  readonly version: string;
  /** Receipts that ended longer ago are archived; never, unless it is said. */
  readonly retentionDays?: number;
  /** And those that ended even longer ago are deleted. */
  readonly deletionDays?: number;
  /** How long and how much of recorded bodies is kept, and what is removed from them. */
  readonly keeping?: BodyKeeping;
  /** What calls are priced by whose process died; nothing, unless it is said. */
  readonly prices?: PriceLists;
  /** How nodes that share a database look after each other. */
  readonly nodes?: NodeTiming;
  /** Bodies cannot be recorded or stored; calls and receipts go on. */
  readonly onBodiesFault?: (message: string) => void;
  /** How far the bucket of bodies is behind, whenever that changes. */
  readonly onBucket?: (state: BucketState) => void;
  /** The database does not take facts; they stay in the journal until it does. */
  readonly onStalled: (message: string) => void;
  /** Sums, retention, parts of tables or lost nodes were not attended to; tried again. Receipts are written. */
  readonly onUpkeepFault?: (message: string) => void;
  /** Facts cannot be written: no run can begin until they can. */
  readonly onBlocked?: (message: string) => void;
  /** They can be written again; why they could not. */
  readonly onUnblocked?: (message: string) => void;
  /** A fact has been given to the journal. Called on the hot path. */
  readonly onFact?: (fact: Fact) => void;
  /** Rows of these runs have been written, and their calls cost this. */
  readonly onSettled: (runs: readonly RunId[], spent: readonly Spent[]) => void;
  /** The signed head of the chain, once a minute while it grows and once at the end. */
  readonly onHead?: (document: string) => void;
  /** The contents of these runs' receipts were removed; what else is kept of them must go too. */
  readonly onRemoved?: (runs: readonly RunId[]) => void;
  /** Parts of the journal could not be read; they were set aside and named in the chain. */
  readonly onDamaged?: (segment: string, bytes: number) => void;
  /** Entries of the chain that this home had signed are gone from the database, or others stand in their place. */
  readonly onChainCut?: () => void;
  /** Another node was lost, and these of its runs were closed here as interrupted. */
  readonly onClosedFor?: (node: string, runs: readonly RunId[]) => void;
}
