import type { JsonObject } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import { followEvents } from './events.ts';
import { type Connection, getDocument, send } from './http.ts';

/** A session with an agent. */
export interface SessionView {
  readonly id: string;
  readonly agentId: string;
  readonly title: string | null;
  readonly tags: readonly string[];
  /** `waiting`: a call of a tool waits for an approval. */
  readonly status: 'idle' | 'active' | 'waiting';
  readonly model: string | null;
  /** The turn that has not ended. */
  readonly turnId: string | null;
  /** Number of the last event. */
  readonly lastSequence: number;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly costNanoUsd: number };
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A message of a session. Parts have the names of the wire: `{type: 'text', text}`. */
export interface SessionMessage {
  readonly id: string;
  readonly role: 'user' | 'agent' | 'tool_result';
  readonly content: readonly JsonObject[];
  readonly sequence: number;
  readonly turnId: string | null;
  /** The run of the turn; `getReceipt` has its receipt. */
  readonly runId: string | null;
  readonly createdAt: string;
}

/** Something that happened in a session, or a piece of an answer in the making. `data` has the names of the wire (docs/sessions.md). */
export interface SessionEvent {
  readonly type: string;
  /** Of a stored event; pieces have none. Give it as `after` to go on behind it. */
  readonly id?: string;
  readonly sequence?: number;
  readonly turnId?: string;
  readonly data: JsonObject;
}

/** Text, or parts of text and images, as `POST /v1/sessions/{id}/messages` takes them. */
export type SessionContent = string | readonly JsonObject[];

export interface NewSessionOptions {
  readonly agentId: string;
  readonly title?: string;
  readonly tags?: readonly string[];
  readonly model?: string;
  readonly maxIterations?: number;
  readonly maxCostUsd?: number;
}

export interface SessionListFilter {
  readonly agentId?: string;
  readonly status?: SessionView['status'];
  readonly tag?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

export interface SessionPage {
  readonly items: readonly SessionView[];
  /** Give it as `cursor` to get the next page; absent on the last one. */
  readonly nextCursor?: string;
}

/** How a turn ended. */
export interface TurnResult {
  readonly turnId: string;
  /** `getReceipt` has its receipt. */
  readonly runId: string;
  readonly status: 'completed' | 'failed' | 'cancelled';
  /** The last message of the agent. */
  readonly text: string;
  /** Why it did not complete. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** Documents of the server, by the names of the wire. */
type WireSession = Omit<SessionView, 'agentId' | 'turnId' | 'lastSequence' | 'usage' | 'createdAt' | 'updatedAt'> & {
  readonly [Member in 'agent_id' | 'created_at' | 'updated_at']: string;
} & { readonly [Member in 'turn_id']: string | null } & { readonly [Member in 'last_sequence']: number } & {
  readonly usage: { readonly [Member in 'input_tokens' | 'output_tokens' | 'cost_nano_usd']: number };
};
type WireMessage = Omit<SessionMessage, 'turnId' | 'runId' | 'createdAt'> & { readonly [Member in 'turn_id' | 'run_id']: string | null } & {
  readonly [Member in 'created_at']: string;
};
interface WireEvent {
  readonly sequence?: number;
  readonly context?: { readonly [Member in 'turn_id']?: string };
  readonly data?: JsonObject;
}

function viewOf({ id, title, tags, status, model, usage, ...wire }: WireSession): SessionView {
  return {
    ...{ id, title, tags, status, model },
    agentId: wire.agent_id,
    turnId: wire.turn_id,
    lastSequence: wire.last_sequence,
    usage: { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens, costNanoUsd: usage.cost_nano_usd },
    createdAt: wire.created_at,
    updatedAt: wire.updated_at,
  };
}

function messageOf({ id, role, content, sequence, ...wire }: WireMessage): SessionMessage {
  return { id, role, content, sequence, turnId: wire.turn_id, runId: wire.run_id, createdAt: wire.created_at };
}

/** Begins a session. */
export async function createSession(connection: Connection, options: NewSessionOptions): Promise<RemoteSession> {
  const { agentId, title, tags, model, maxIterations, maxCostUsd } = options;
  const body = { agent_id: agentId, title, tags, model, max_iterations: maxIterations, max_cost_usd: maxCostUsd };
  const { id } = await getDocument<WireSession>(connection, '/v1/sessions', { body });
  return new RemoteSession(connection, id);
}

export async function listSessions(connection: Connection, { agentId, ...rest }: SessionListFilter): Promise<SessionPage> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ agent_id: agentId, ...rest })) if (value !== undefined) query.append(name, String(value));
  type Page = { readonly items: readonly WireSession[] } & { readonly [Member in 'next_cursor']?: string };
  const { items, next_cursor: nextCursor } = await getDocument<Page>(connection, `/v1/sessions?${query}`);
  return { items: items.map(viewOf), ...(nextCursor === undefined ? {} : { nextCursor }) };
}

const ENDS: Readonly<Record<string, TurnResult['status']>> = {
  'turn.completed': 'completed',
  'turn.failed': 'failed',
  'turn.cancelled': 'cancelled',
};

/** A conversation with an agent on a server. Its events outlive connections: a reader that lost one goes on after the last event that came. */
export class RemoteSession {
  readonly id: string;
  readonly #connection: Connection;

  constructor(connection: Connection, id: string) {
    this.#connection = connection;
    this.id = id;
  }

  async view(): Promise<SessionView> {
    return viewOf(await getDocument<WireSession>(this.#connection, this.#path()));
  }

  /** Sends a message. It begins a turn, or goes into the next step of the one under way. */
  async send(content: SessionContent): Promise<SessionMessage> {
    return messageOf(await this.#post<WireMessage>('/messages', { message: { content } }));
  }

  /** Sends a message and waits for the end of its turn; pieces of the answer are told as they come. */
  async ask(
    content: SessionContent,
    { onDelta, signal }: { onDelta?: (text: string) => void; signal?: AbortSignal } = {},
  ): Promise<TurnResult> {
    const { turnId, runId, sequence } = await this.send(content);
    if (turnId === null || runId === null) throw new AbpError('internal', 'the message began no turn');
    const answer = new AnswerSoFar(onDelta);
    const after = `event_${this.id.slice('session_'.length)}_${sequence}`;
    for await (const event of this.events({ after, ...(signal && { signal }) })) {
      answer.heard(event);
      const status = event.turnId === turnId ? ENDS[event.type] : undefined;
      if (status !== undefined) return { turnId, runId, status, text: answer.text, ...failureIn(event.data) };
    }
    throw new AbpError('request_timeout', `The turn ${turnId} has not ended.`, { run_id: runId });
  }

  /** Events from the first one on, or behind the one that `after` names; then what happens, until the caller leaves. */
  async *events({ after, signal }: { readonly after?: string; readonly signal?: AbortSignal } = {}): AsyncGenerator<SessionEvent> {
    const left = new AbortController();
    const ended = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
    try {
      for await (const { id, event = '', data } of followEvents(this.#connection, `${this.#path()}/events`, { after, signal: ended })) {
        if (event === 'connected' || event === 'disconnecting') continue;
        const body = (await new Response(data).json()) as WireEvent; // the server's own document
        yield eventOf(event, id, body);
      }
    } finally {
      left.abort();
    }
  }

  /** The conversation, oldest first; `after` is the number of a message. */
  async messages({ limit, after }: { readonly limit?: number; readonly after?: number } = {}): Promise<SessionMessage[]> {
    const query = new URLSearchParams({
      ...(limit === undefined ? {} : { limit: String(limit) }),
      ...(after === undefined ? {} : { cursor: String(after) }),
    });
    const { items } = await getDocument<{ readonly items: readonly WireMessage[] }>(this.#connection, `${this.#path()}/messages?${query}`);
    return items.map(messageOf);
  }

  /** Ends the turn under way. */
  async cancel(reason?: string): Promise<void> {
    await this.#post('/cancel', reason === undefined ? {} : { reason });
  }

  /** Answers a call that waits: it is made as it stood in the question, or the model reads the note. */
  async approve(approvalId: string): Promise<void> {
    await this.#post(`/approvals/${encodeURIComponent(approvalId)}`, { decision: 'approve' });
  }

  async deny(approvalId: string, note?: string): Promise<void> {
    await this.#post(`/approvals/${encodeURIComponent(approvalId)}`, { decision: 'deny', ...(note === undefined ? {} : { note }) });
  }

  /** A new session that goes on from here, or from the event that is named. */
  async fork({ eventId, title }: { readonly eventId?: string; readonly title?: string } = {}): Promise<RemoteSession> {
    const made = await this.#post<WireSession>('/fork', { event_id: eventId, title });
    return new RemoteSession(this.#connection, made.id);
  }

  /** Ends its turn and removes it with its events and files. */
  async delete(): Promise<void> {
    await send(this.#connection, this.#path(), { method: 'DELETE' });
  }

  #path(): string {
    return `/v1/sessions/${encodeURIComponent(this.id)}`;
  }

  #post<T>(rest: string, body: object): Promise<T> {
    return getDocument<T>(this.#connection, `${this.#path()}${rest}`, { body });
  }
}

/** The answer in the making. Its listener hears all of it, also where the answer was there before the events were read. */
class AnswerSoFar {
  text = '';
  readonly #onDelta: ((text: string) => void) | undefined;
  #told = '';

  constructor(onDelta: ((text: string) => void) | undefined) {
    this.#onDelta = onDelta;
  }

  heard({ type, data }: SessionEvent): void {
    if (type === 'output.message.delta') this.#tell(String(data.delta));
    // An answer that begins again after an error is told again.
    if (type === 'output.message.reset') this.#told = '';
    if (type !== 'output.message.completed') return;
    this.text = textOf(data);
    if (this.text.startsWith(this.#told) && this.text.length > this.#told.length) this.#tell(this.text.slice(this.#told.length));
    this.#told = '';
  }

  #tell(piece: string): void {
    this.#told += piece;
    this.#onDelta?.(piece);
  }
}

function eventOf(type: string, id: string | undefined, { data = {}, context, sequence }: WireEvent): SessionEvent {
  const turnId = context?.turn_id ?? data.turn_id;
  return {
    type,
    data,
    ...(id === undefined ? {} : { id }),
    ...(sequence === undefined ? {} : { sequence }),
    ...(typeof turnId === 'string' ? { turnId } : {}),
  };
}

/** The text of the message that an event holds. */
function textOf({ message }: JsonObject): string {
  const content = typeof message === 'object' && message !== null && 'content' in message ? message.content : [];
  if (!Array.isArray(content)) return '';
  return content.map((part: JsonObject) => (part.type === 'text' ? String(part.text) : '')).join('');
}

function failureIn({ error, error_code: code }: JsonObject): Pick<TurnResult, 'error'> {
  return typeof error === 'string' ? { error: { code: String(code), message: error } } : {};
}
