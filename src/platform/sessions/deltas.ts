import { isJsonObject, type JsonObject, parseJsonObject } from '../../base/json.ts';
import type { SentTry } from '../../calls/model-call.ts';
import type { IrEvent } from '../../ir/event.ts';
import { PartialAnswer } from '../../ir/partial-answer.ts';
import type { IrUsage } from '../../ir/usage.ts';

/** Who hears pieces of answers in this process. */
export interface DeltaListeners {
  isHeard(sessionId: string): boolean;
  tell(sessionId: string, heard: { readonly kind: 'delta'; readonly delta: Delta }): void;
}

/** A part of an answer in the making. It is never stored: `output.message.completed` is the truth. */
export interface Delta {
  readonly type: 'output.message.delta' | 'reason.thinking.delta' | 'output.message.reset';
  readonly data: JsonObject;
}

/** The answer that a delta belongs to. */
export interface DeltaSource {
  readonly sessionId: string;
  readonly turnId: string;
  readonly messageId: string;
  /** Grows with every try at the answer; what an earlier try sent is void. */
  readonly attempt: number;
}

type Channel = 'output.message.delta' | 'reason.thinking.delta';

/** An answer so far. */
class LiveAnswer {
  readonly source: DeltaSource;
  readonly partial = new PartialAnswer();
  /** The try that writes it. */
  sent: SentTry | undefined;
  readonly texts: Record<Channel, string> = { 'output.message.delta': '', 'reason.thinking.delta': '' };

  constructor(source: DeltaSource) {
    this.source = source;
  }

  delta(channel: Channel, offset: number, text: string): Delta {
    const { turnId, messageId, attempt } = this.source;
    return { type: channel, data: { turn_id: turnId, message_id: messageId, attempt, offset, delta: text } };
  }
}

/** An answer as far as it has come, and the call that writes it. */
export interface AnswerSoFar extends SentTry {
  readonly messageId: string;
  readonly text: string;
  readonly usage: IrUsage;
}

/** Hears how an answer is made. */
export interface AnswerListener {
  onTry(sent: SentTry): void;
  onEvent(event: IrEvent): void;
}

/** Sends deltas to other processes. */
export interface DeltaRelay {
  add(sessionId: string, delta: Delta): void;
  /** The answer is complete: parts of it help nobody any more. */
  drop(sessionId: string): void;
}

/** The answers being written in this process. */
export class Deltas {
  readonly #hub: DeltaListeners;
  readonly #relay: DeltaRelay | undefined;
  readonly #live = new Map<string, LiveAnswer>();

  constructor(hub: DeltaListeners, relay?: DeltaRelay) {
    this.#hub = hub;
    this.#relay = relay;
  }

  /** A try at an answer begins. A second one voids what the first has sent. */
  begin(source: DeltaSource): AnswerListener {
    const answer = new LiveAnswer(source);
    this.#live.set(source.sessionId, answer);
    if (source.attempt > 1) {
      const { turnId, messageId, attempt } = source;
      this.#send(source.sessionId, { type: 'output.message.reset', data: { turn_id: turnId, message_id: messageId, attempt } });
    }
    const channels = new Map<number, Channel>();
    const onEvent = (event: IrEvent): void => {
      answer.partial.see(event);
      if (event.type === 'part-start') {
        if (event.part.kind === 'text') channels.set(event.index, 'output.message.delta');
        else if (event.part.kind === 'thinking') channels.set(event.index, 'reason.thinking.delta');
      } else if (event.type === 'part-delta') this.#grow(answer, channels.get(event.index), event.text);
    };
    const onTry = (sent: SentTry): void => {
      answer.sent = sent;
    };
    return { onTry, onEvent };
  }

  end(sessionId: string): void {
    this.#live.delete(sessionId);
    this.#relay?.drop(sessionId);
  }

  /** The answer in the making so far, for a reader who comes late. */
  soFar(sessionId: string): Delta[] {
    const answer = this.#live.get(sessionId);
    if (answer === undefined) return [];
    const channels: readonly Channel[] = ['reason.thinking.delta', 'output.message.delta'];
    return channels.filter((channel) => answer.texts[channel] !== '').map((channel) => answer.delta(channel, 0, answer.texts[channel]));
  }

  /** The answer as far as this process has written it, for a turn that somebody ends meanwhile. */
  answerSoFar(sessionId: string): AnswerSoFar | undefined {
    const { source, sent, partial } = this.#live.get(sessionId) ?? {};
    const usage = sent === undefined ? undefined : partial?.usage(sent.bytes);
    if (source === undefined || sent === undefined || partial === undefined || usage === undefined) return undefined;
    return { ...sent, messageId: source.messageId, text: partial.text, usage };
  }

  #grow(answer: LiveAnswer, channel: Channel | undefined, text: string): void {
    if (channel === undefined || text === '') return;
    const offset = answer.texts[channel].length;
    answer.texts[channel] += text;
    this.#send(answer.source.sessionId, answer.delta(channel, offset, text));
  }

  #send(sessionId: string, delta: Delta): void {
    if (this.#hub.isHeard(sessionId)) this.#hub.tell(sessionId, { kind: 'delta', delta });
    this.#relay?.add(sessionId, delta);
  }
}

/** PostgreSQL takes at most 8,000 bytes. */
const MOST_PAYLOAD = 7900;
const GATHER_MS = 50;

/** Gathers deltas for a moment, joins those that continue each other, and hands over what fits a notice. */
export class DeltaGatherer implements DeltaRelay {
  readonly #origin: string;
  readonly #send: (payloads: readonly string[]) => void;
  #waiting = new Map<string, Delta[]>();
  #timer: NodeJS.Timeout | undefined;

  constructor(origin: string, send: (payloads: readonly string[]) => void) {
    this.#origin = origin;
    this.#send = send;
  }

  add(sessionId: string, delta: Delta): void {
    const deltas = this.#waiting.get(sessionId) ?? [];
    this.#waiting.set(sessionId, deltas);
    const last = deltas.at(-1);
    const joined = last === undefined ? undefined : join(last, delta);
    if (joined === undefined) deltas.push(delta);
    else deltas[deltas.length - 1] = joined;
    this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  drop(sessionId: string): void {
    this.#waiting.delete(sessionId);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #flush(): void {
    this.#timer = undefined;
    const payloads = [...this.#waiting].flatMap(([session, deltas]) =>
      deltas.map(({ type, data }) => JSON.stringify({ origin: this.#origin, session, type, data })),
    );
    this.#waiting = new Map();
    // One that does not fit is left out; the next offset tells the reader that something is missing.
    const fitting = payloads.filter((payload) => Buffer.byteLength(payload) <= MOST_PAYLOAD);
    if (fitting.length > 0) this.#send(fitting);
  }
}

function join(first: Delta, second: Delta): Delta | undefined {
  if (first.type !== second.type || first.type === 'output.message.reset') return undefined;
  const text = `${String(first.data.delta)}${String(second.data.delta)}`;
  return text.length > MOST_PAYLOAD / 4 ? undefined : { type: first.type, data: { ...first.data, delta: text } };
}

/** A delta from another process; undefined for one of our own or anything else. */
export function relayedDelta(payload: string, ownOrigin: string): { readonly sessionId: string; readonly delta: Delta } | undefined {
  const { origin, session, type, data } = parseJsonObject(payload) ?? {};
  if (origin === ownOrigin || typeof session !== 'string' || !isJsonObject(data)) return undefined;
  if (type !== 'output.message.delta' && type !== 'reason.thinking.delta' && type !== 'output.message.reset') return undefined;
  return { sessionId: session, delta: { type, data } };
}
