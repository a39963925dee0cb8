import { AbpError } from '../contract/errors.ts';
import type { ChainVerification } from '../contract/receipts/chain-verification.ts';
import type { PendingReceipt, Receipt } from '../contract/receipts/receipt.ts';
import type { RunOptions } from '../contract/runs/run-options.ts';
import { followReceipts } from './events.ts';
import { type Connection, getDocument, rest, retryAfterMs, send } from './http.ts';
import { RemoteRun, startRun } from './remote-run.ts';
import { followRuns, type RunLine, type RunLineOptions } from './run-lines.ts';
import {
  createSession,
  listSessions,
  type NewSessionOptions,
  RemoteSession,
  type SessionListFilter,
  type SessionPage,
} from './sessions.ts';
import { type UsageQuery, type UsageReport, usageOf } from './usage.ts';
import { headersOf, wrapClient } from './wrap.ts';

export interface AbpClientOptions {
  /** Where the server answers; `ABP_URL`, else `http://127.0.0.1:8088`. */
  readonly url?: string;
  /** A key of the server; none for a caller on the same machine, where the server allows that. */
  readonly key?: string;
  /** Gets every receipt of the caller's runs from now on, as it is sealed. */
  readonly onReceipt?: (receipt: Receipt) => void;
  /** The stream of receipts broke, or `onReceipt` threw; the stream goes on by itself. */
  readonly onError?: (error: unknown) => void;
  /** Goes on after this sequence or run id instead of now. */
  readonly after?: string;
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch;
}

/** Which receipts to list. */
export interface ReceiptListFilter {
  readonly plane?: string;
  readonly engine?: string;
  readonly model?: string;
  readonly status?: string;
  readonly key?: string;
  readonly tag?: string;
  /** A date or an RFC 3339 time. */
  readonly since?: string;
  readonly until?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

export interface ReceiptPage {
  readonly items: readonly (Receipt | PendingReceipt)[];
  /** Give it as `cursor` to get the next page; absent on the last one. */
  readonly nextCursor?: string;
}

/** A run by its id, or by a result of a wrapped client, or by the headers of its answer. */
export type RunReference = string | object;

type Listed = Pick<ReceiptPage, 'items'> & { readonly [Member in 'next_cursor']?: string };

const WAIT_MS = 30_000;
/** The server holds no answer for longer. */
const LONGEST_WAIT_MS = 60_000;
const ACCEPTED = 202;
const DEFAULT_URL = 'http://127.0.0.1:8088';
const RUN_HEADER = 'x-abp-run-id';

export type { QueueTime, RemoteAnswer, RemoteRun, RemoteRunView } from './remote-run.ts';
export type { RunLine, RunLineFilter, RunLineOptions } from './run-lines.ts';
export type {
  NewSessionOptions,
  RemoteSession,
  SessionContent,
  SessionEvent,
  SessionListFilter,
  SessionMessage,
  SessionPage,
  SessionView,
  TurnResult,
} from './sessions.ts';
export type { UsageDurations, UsageGroup, UsageQuery, UsageReport, UsageSeries } from './usage.ts';

/** Receipts and usage of the runs that a program makes through the backplane, sessions with agents, and runs of coding agents on it. */
export class AbpClient {
  readonly #connection: Connection;
  readonly #closing = new AbortController();
  readonly #following: Promise<void> | undefined;

  constructor({ url, key, onReceipt, onError = () => undefined, after, fetch = globalThis.fetch }: AbpClientOptions = {}) {
    this.#connection = { url: (url ?? environment('ABP_URL') ?? DEFAULT_URL).replace(/(?<!\/)\/+$/, ''), key, fetch };
    if (onReceipt !== undefined) {
      this.#following = followReceipts(this.#connection, { onReceipt, onError, after, signal: this.#closing.signal });
    }
  }

  /** The receipt of a run that has ended; waits for the end, up to 30 seconds unless told. */
  async getReceipt(run: RunReference, { waitMs = WAIT_MS }: { readonly waitMs?: number } = {}): Promise<Receipt> {
    const id = runIdOf(run);
    const deadline = Date.now() + waitMs;
    for (;;) {
      const left = Math.min(Math.max(0, deadline - Date.now()), LONGEST_WAIT_MS);
      const answer = await send(this.#connection, `/v1/receipts/${encodeURIComponent(id)}?wait=${left / 1000}`);
      const receipt = (await answer.json()) as Receipt | PendingReceipt; // the server's own document
      if (isEnded(receipt)) return receipt;
      if (Date.now() >= deadline) {
        throw new AbpError('request_timeout', `The run ${id} has not ended; its receipt comes with its end.`, { run_id: id });
      }
      // Another node serves the run, and this one has not heard of it yet.
      if (answer.status === ACCEPTED) await rest(Math.min(retryAfterMs(answer), deadline - Date.now()), this.#closing.signal);
    }
  }

  /** Starts a coding agent on the machine of the server. */
  startRun(options: RunOptions): Promise<RemoteRun> {
    return startRun(this.#connection, options);
  }

  /** A run that was started before, by its id. */
  run(run: RunReference): RemoteRun {
    return new RemoteRun(this.#connection, runIdOf(run));
  }

  /** Begins a session with an agent. */
  createSession(options: NewSessionOptions): Promise<RemoteSession> {
    return createSession(this.#connection, options);
  }

  /** A session by its id. */
  session(id: string): RemoteSession {
    return new RemoteSession(this.#connection, id);
  }

  /** Sessions, newest first. */
  listSessions(filter: SessionListFilter = {}): Promise<SessionPage> {
    return listSessions(this.#connection, filter);
  }

  /** Adds calls up on the server: how many, tokens, cost and durations, by group and by time. */
  usage(query: UsageQuery = {}): Promise<UsageReport> {
    return usageOf(this.#connection, query);
  }

  /** Runs as they begin, go on and end, with what they use and cost. */
  followRuns(options: RunLineOptions = {}): AsyncGenerator<RunLine> {
    return followRuns(this.#connection, options);
  }

  /** Receipts, newest first. */
  async listReceipts(filter: ReceiptListFilter = {}): Promise<ReceiptPage> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.append(name, String(value));
    const { items, next_cursor: nextCursor } = await getDocument<Listed>(this.#connection, `/v1/receipts?${query}`);
    return { items, ...(nextCursor === undefined ? {} : { nextCursor }) };
  }

  /** Whether a receipt is what was sealed, and linked to a signed head of the chain. */
  async verifyReceipt(run: RunReference): Promise<ChainVerification> {
    const id = runIdOf(run);
    const answer = await send(this.#connection, `/v1/receipts/${encodeURIComponent(id)}/verify`);
    if (answer.status === ACCEPTED) {
      throw new AbpError('conflict', `The run ${id} is not known yet; ask again in a moment.`, { run_id: id });
    }
    return (await answer.json()) as ChainVerification; // the server's own document
  }

  /**
   * A vendor's client whose results carry the `headers` of their answer, `X-ABP-Run-Id` among them, and can be given to `getReceipt`.
   * For the official SDKs of Anthropic, OpenAI and Google.
   */
  wrap<T extends object>(vendorClient: T): Wrapped<T> {
    return wrapClient(vendorClient) as Wrapped<T>; // the same members; their results carry headers
  }

  /** Ends the stream of receipts. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following;
  }
}

/** Results with the headers of the answer they were made of. */
export type WithHeaders<V> = V extends object ? V & { readonly headers: Headers } : V;

type Result<R> = R extends Promise<infer V> ? Promise<WithHeaders<V>> & Omit<R, keyof Promise<unknown>> : WithHeaders<R>;

/** A client, or a part of it, with such results. Methods in up to three forms keep them. */
export type Wrapped<T> = T extends (...args: never[]) => unknown
  ? WrappedMethod<T>
  : T extends object
    ? { [K in keyof T]: Wrapped<T[K]> }
    : T;

type WrappedMethod<F> = F extends {
  (...args: infer A): infer R;
  (...args: infer B): infer S;
  (...args: infer C): infer T;
}
  ? { (...args: A): Result<R>; (...args: B): Result<S>; (...args: C): Result<T> }
  : F extends (...args: infer A) => infer R
    ? (...args: A) => Result<R>
    : F;

/** The id of a run, from whatever names it. */
export function runIdOf(run: RunReference): string {
  if (typeof run === 'string') return run;
  const headers =
    run instanceof Headers ? run : (headersOf(run) ?? ('headers' in run && run.headers instanceof Headers ? run.headers : undefined));
  const id = headers?.get(RUN_HEADER);
  if (id === undefined || id === null) {
    throw new AbpError(
      'invalid_request',
      'There is no run id: give one, or a result of a client that was wrapped, once its answer has begun.',
    );
  }
  return id;
}

function isEnded(receipt: Receipt | PendingReceipt): receipt is Receipt {
  return receipt.status !== 'pending' && receipt.status !== 'running';
}

/** In a browser there is no environment. */
function environment(name: string): string | undefined {
  return typeof process === 'undefined' ? undefined : process.env[name];
}
