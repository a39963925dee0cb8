import type { Logger } from 'pino';
import { hasPassed } from '../../base/clock.ts';
import { uuidv7Hex } from '../../base/ids.ts';
import { AbpError } from '../../contract/errors.ts';
import { addNotice, endNoticesUntil, type Notice } from '../../store/notices/notices.ts';
import {
  countPushSubscriptions,
  getPushSubscription,
  keepPushSubscription,
  listPushSubscriptions,
  type PushSubscription,
  pushReceiver,
  pushSubscriptionOf,
  removePushSubscriptions,
} from '../../store/notices/push-subscriptions.ts';
import type { Store } from '../../store/store.ts';
import { Outbound } from '../../upstream/outbound.ts';
import type { Interaction } from '../api/interactions.ts';
import type { Principal } from '../auth/principal.ts';
import { Delivery, type Posted } from '../webhooks/delivery.ts';
import { endpointOf } from './endpoints.ts';
import type { ConsoleConfig } from './push-config.ts';
import { openPushKey, type PushKey } from './push-key.ts';
import { sendNote } from './send-note.ts';

const LOOK_MS = 1000;
/** How soon subscriptions whose sign-in has ended are forgotten. Nothing is sent to them before that either. */
const SWEEP_MS = 60_000;
/** How often each browser's notices are looked for that another process left. */
const LEFT_MS = 60_000;
const MOST_SUBSCRIPTIONS = 1000;

/** The browser's side of a subscription, as the page got it from its browser. */
export interface BrowserKeys {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

/** A browser that is signed in: the hash of its cookie, and when that ends by itself. */
export interface Holder {
  readonly session: string;
  readonly expiresAt: number;
}

/** A question that waits; its path names it. */
type Question = Pick<Interaction, 'answer'>;

export interface PushNotesOptions {
  readonly store: Store;
  readonly log: Logger;
  readonly config: ConsoleConfig;
  /** Where this server answers. */
  readonly address: () => string;
  /** Who a sign-in is now. Undefined where it has ended, its user is gone, or it may not see questions any more. */
  readonly principalOf: (session: string) => Promise<Principal | undefined>;
  /** Everything that waits for somebody. */
  readonly questions: (principal: Principal) => Promise<readonly Question[]>;
}

/**
 * Tells browsers that something waits (Web Push). A question is noticed by every node and told by one: the notices are those of webhooks,
 * one for each question and browser. A note is made at the moment of sending, out of what is open for that browser then.
 */
export class PushNotes {
  readonly #options: PushNotesOptions;
  readonly #key: PushKey;
  readonly #outbound: Outbound;
  readonly #deliveries = new Map<string, Delivery>();
  readonly #asked = new Set<string>();
  #looking: Promise<void> | undefined;
  #sweptAt = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Tries by how they ended. */
  readonly tries = new Map<string, number>();

  private constructor(options: PushNotesOptions, key: PushKey) {
    this.#options = options;
    this.#key = key;
    const reach = { who: 'notes to browsers reach', setting: 'console.push_hosts' };
    this.#outbound = new Outbound({ allow: options.config.push_hosts, reach });
  }

  static async open(options: PushNotesOptions): Promise<PushNotes> {
    const notes = new PushNotes(options, await openPushKey(options.store));
    notes.#timer = setInterval(() => notes.#lookOnce(), LOOK_MS).unref();
    return notes;
  }

  get publicKey(): string {
    return this.#key.publicKey;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    await Promise.all([...this.#deliveries.values()].map((delivery) => delivery.close()));
    await this.#outbound.close();
  }

  /** Whether the browser is told. */
  async isOn({ session }: Holder): Promise<boolean> {
    const known = await pushSubscriptionOf(this.#options.store, session);
    return known?.push_key === this.publicKey;
  }

  async begin({ session, expiresAt }: Holder, keys: BrowserKeys): Promise<void> {
    const { store, config } = this.#options;
    endpointOf(keys.endpoint, config.push_hosts);
    if ((await countPushSubscriptions(store)) >= MOST_SUBSCRIPTIONS)
      throw new AbpError('overloaded', `This server tells ${MOST_SUBSCRIPTIONS} browsers at most.`);
    await keepPushSubscription(store, { ...keys, session, push_key: this.publicKey, expires_at: expiresAt }, Date.now());
  }

  async end({ session }: Pick<Holder, 'session'>): Promise<void> {
    await removePushSubscriptions(this.#options.store, 'session', session);
  }

  #lookOnce(): void {
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#options.log.warn({ error }, 'questions for browsers could not be looked for; tried again'))
      .finally(() => {
        this.#looking = undefined;
      });
  }

  async #look(): Promise<void> {
    const { store } = this.#options;
    const subscriptions = await listPushSubscriptions(store, this.publicKey);
    await this.#sweep(subscriptions);
    // A process that ended may have left notes behind: they are delivered too.
    for (const { id } of subscriptions) if (!this.#deliveries.has(id)) this.#deliveryTo(id).wake();
    if (subscriptions.length === 0) return;
    const open = await this.#options.questions({ kind: 'token' });
    const fresh = open.filter((question) => !this.#asked.has(question.answer.path));
    if (fresh.length > 0) for (const subscription of subscriptions) await this.#notice(subscription, fresh);
    this.#asked.clear();
    for (const { answer } of open) this.#asked.add(answer.path);
  }

  /** Forgets browsers whose sign-in has ended, and the deliveries of those that were forgotten. */
  async #sweep(subscriptions: readonly PushSubscription[]): Promise<void> {
    if (!hasPassed(SWEEP_MS, this.#sweptAt, Date.now())) return;
    this.#sweptAt = Date.now();
    const left = new Set<string>();
    for (const { id, session } of subscriptions) {
      if ((await this.#options.principalOf(session)) === undefined) await removePushSubscriptions(this.#options.store, 'id', id);
      else left.add(id);
    }
    for (const [id, delivery] of this.#deliveries) {
      if (left.has(id)) continue;
      this.#deliveries.delete(id);
      await delivery.close();
    }
  }

  async #notice({ id, session }: PushSubscription, fresh: readonly Question[]): Promise<void> {
    const principal = await this.#options.principalOf(session);
    if (principal === undefined) return await removePushSubscriptions(this.#options.store, 'id', id);
    const seen = new Set((await this.#options.questions(principal)).map(({ answer }) => answer.path));
    for (const { answer } of fresh) if (seen.has(answer.path)) await this.#addNotice(id, answer.path);
  }

  async #addNotice(id: string, question: string): Promise<void> {
    const now = Date.now();
    const isNew = await addNotice(this.#options.store, {
      ...{ id: `notice_${uuidv7Hex(now)}`, webhook: pushReceiver(id), event: 'approval.requested', topic: question },
      ...{ document: '{}', created_at: now },
    });
    if (isNew) this.#deliveryTo(id).wake();
  }

  #deliveryTo(id: string): Delivery {
    const known = this.#deliveries.get(id);
    if (known !== undefined) return known;
    const { store, log } = this.#options;
    const delivery = new Delivery({
      ...{ store, log, id: pushReceiver(id), receiver: 'browser', lookMs: LEFT_MS },
      post: (notice, signal) => this.#post(id, notice, signal),
      onTry: (outcome) => this.tries.set(outcome, (this.tries.get(outcome) ?? 0) + 1),
    });
    this.#deliveries.set(id, delivery);
    return delivery;
  }

  /** One note stands for all that waits, so the notices from before it are done with. */
  async #post(id: string, { created_at: createdAt }: Notice, signal: AbortSignal): Promise<Posted> {
    const { store, config, address, principalOf, questions } = this.#options;
    const subscription = await getPushSubscription(store, id);
    const principal = subscription === undefined ? undefined : await principalOf(subscription.session);
    if (subscription === undefined || principal === undefined) {
      await removePushSubscriptions(store, 'id', id);
      return 'void';
    }
    const noticedBefore = Math.max(createdAt, Date.now() - 1);
    const waiting = (await questions(principal)).length;
    if (waiting === 0) return 'void';
    const contact = config.push_contact ?? (address().startsWith('https:') ? address() : undefined);
    const means = { key: this.#key, config, contact, outbound: this.#outbound };
    const sent = await sendNote(means, subscription, { waiting }, signal);
    if (sent === 'gone') {
      await removePushSubscriptions(store, 'id', id);
      return 'void';
    }
    if (sent === 'arrived') await endNoticesUntil(store, pushReceiver(id), noticedBefore, Date.now());
    return sent;
  }
}
