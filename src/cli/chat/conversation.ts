import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { ServerClient } from '../client.ts';
import type { Io } from '../io.ts';
import type { Paint } from '../output.ts';
import { ChatScreen } from './screen.ts';
import { type SessionEvent, sessionEvents } from './session-events.ts';

/** How a turn ended. */
export type TurnEnd = 'completed' | 'failed' | 'cancelled';

export interface ConversationOptions {
  readonly client: ServerClient;
  readonly token: string;
  readonly session: JsonObject;
  readonly io: Io;
  readonly paint: Paint;
  readonly json: boolean;
  /** Whether a call may be made; asked on behalf of the person. */
  readonly approve: (question: string) => Promise<boolean>;
}

const ENDS: Readonly<Record<string, TurnEnd>> = {
  'turn.completed': 'completed',
  'turn.failed': 'failed',
  'turn.cancelled': 'cancelled',
};

/** One session at the terminal: sends what is said, shows what happens, passes questions on. */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #id: string;
  readonly #stop = new AbortController();
  readonly #events: AsyncGenerator<SessionEvent>;
  readonly #screen: ChatScreen;
  #waiting: boolean;

  constructor(options: ConversationOptions) {
    this.#options = options;
    const { client, session, token, io, paint } = options;
    this.#id = String(session.id);
    const last = Number(session.last_sequence);
    const since = last === 0 ? undefined : `event_${this.#id.slice('session_'.length)}_${last}`;
    this.#events = sessionEvents({ url: client.url, token, sessionId: this.#id }, since, this.#stop.signal);
    this.#screen = new ChatScreen(io, paint);
    this.#waiting = session.status === 'waiting';
  }

  get sessionId(): string {
    return this.#id;
  }

  /** Sends a message and shows its turn to the end. */
  async turn(text: string): Promise<TurnEnd> {
    await this.#options.client.call('POST', `/v1/sessions/${this.#id}/messages`, { message: { content: text } });
    if (this.#waiting) await this.#askAgain();
    let end: TurnEnd = 'failed';
    for (;;) {
      const { value: event, done } = await this.#events.next();
      if (done === true || event === undefined) return end;
      await this.#take(event);
      end = ENDS[event.type] ?? end;
      if (event.type === 'session.idled') return end;
    }
  }

  async cancel(): Promise<void> {
    await this.#options.client.call('POST', `/v1/sessions/${this.#id}/cancel`, {});
  }

  close(): void {
    this.#stop.abort();
  }

  async #take(event: SessionEvent): Promise<void> {
    const { json, io } = this.#options;
    if (json) io.stdout.write(`${JSON.stringify(event.whole)}\n`);
    else this.#screen.show(event);
    if (event.type === 'approval.requested') await this.#answer(event.data);
  }

  /** Questions from before this conversation: their events are past, and the turn goes on with nothing but an answer. */
  async #askAgain(): Promise<void> {
    this.#waiting = false;
    const answer = await this.#options.client.call('GET', `/v1/sessions/${this.#id}/approvals`);
    const open = isJsonObject(answer) && Array.isArray(answer.items) ? answer.items.filter(isJsonObject) : [];
    for (const { id = '', ...question } of open) await this.#answer({ ...question, approval_id: id });
  }

  async #answer(data: JsonObject): Promise<void> {
    const { client, approve } = this.#options;
    const approved = await approve(this.#screen.question(data));
    try {
      await client.call('POST', `/v1/sessions/${this.#id}/approvals/${String(data.approval_id)}`, {
        decision: approved ? 'approve' : 'deny',
      });
    } catch (error) {
      // Somebody else has answered, or ended the turn; the events say how it goes on.
      if (!AbpError.is(error) || (error.code !== 'conflict' && error.code !== 'not_found')) throw error;
      this.#screen.note(error.message);
    }
  }
}

/** The session to talk in: a new one with the agent, or an earlier one. */
export async function openSession(client: ServerClient, agentId: string | undefined, sessionId: string | undefined): Promise<JsonObject> {
  const answer =
    sessionId === undefined
      ? await client.call('POST', '/v1/sessions', { agent_id: agentId ?? '' })
      : await client.call('GET', `/v1/sessions/${encodeURIComponent(sessionId)}`);
  return isJsonObject(answer) ? answer : {};
}
