import type { Logger } from 'pino';
import { randomToken } from '../../base/ids.ts';
import type { AbpError } from '../../contract/errors.ts';
import { nodeStates } from '../../store/budgets/grants.ts';
import { CHANGES_CHANNEL, tell } from '../../store/databases/notices.ts';
import type { PostgresStore } from '../../store/store.ts';
import { FRESH_MS } from './kept-fresh.ts';

interface SharedChangesOptions {
  readonly store: PostgresStore;
  readonly url: string;
  readonly node: string;
  /** Takes over what the database says now. */
  readonly read: () => Promise<void>;
  /** Hears what else nodes tell each other: a word and the id of what it is about. */
  readonly onWord: (word: string, id: string) => void;
  readonly log: Pick<Logger, 'warn'>;
}

/** By then every node has read its tables again by itself. */
const MOST_WAIT_MS = FRESH_MS;
/** A node that was silent for so long does not serve. */
const LOST_MS = 15 * 60_000;

/**
 * Budgets, limits, people, keys and routes that one node changes, and every node of the database has in memory. A request that
 * changes something is answered when the other nodes have taken it over, so that it holds from the next call on, wherever that comes. No call
 * to an engine waits.
 */
export class SharedChanges {
  readonly #options: SharedChangesOptions;
  /** Nodes that have not taken a change over yet, by its id. */
  readonly #waiting = new Map<string, { readonly nodes: Set<string>; readonly done: () => void }>();
  /** Nodes that did not answer in time. Nobody waits for them again until they say something. */
  readonly #silent = new Set<string>();
  #reading: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #close: (() => Promise<void>) | undefined;

  constructor(options: SharedChangesOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    const { url, log } = this.#options;
    // Loaded on demand: a start on SQLite never pays for pg.
    const { openListener } = await import('../../store/databases/listener.ts');
    const listener = await openListener({
      url,
      channels: [CHANGES_CHANNEL],
      onNotice: (_channel, payload) => this.#hear(payload),
      onGap: () => void this.#readAgain().catch(this.#onFault),
      onTrouble: (error) => log.warn({ error }, 'the connection by which nodes tell each other of changes is lost; it is opened again'),
      onDeaf: (error) => this.#deaf(error),
    });
    this.#close = () => listener.close();
  }

  /** A node that is alone has nobody to hear. */
  async #deaf(error: AbpError): Promise<void> {
    const { store, node, log } = this.#options;
    const others = (await nodeStates(store, LOST_MS)).filter((state) => state.live && state.node !== node);
    if (others.length > 0) throw error;
    log.warn({ error }, 'no other node can serve beside this one');
  }

  async close(): Promise<void> {
    await this.#close?.();
    for (const { done } of this.#waiting.values()) done();
    await this.#reading;
  }

  /** Something has been changed. Resolves when the other nodes know, or when they have had their time. */
  async tell(): Promise<void> {
    const { store, node } = this.#options;
    const id = randomToken(8);
    try {
      const states = await nodeStates(store, LOST_MS);
      const nodes = new Set(states.filter(({ node: one, live }) => live && one !== node && !this.#silent.has(one)).map((one) => one.node));
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.set(id, { nodes, done: resolve });
      if (nodes.size === 0) resolve();
      await tell(store, store.db, CHANGES_CHANNEL, [`changed ${node} ${id}`]);
      const timer = setTimeout(resolve, MOST_WAIT_MS);
      await promise;
      clearTimeout(timer);
      for (const one of nodes) this.#silent.add(one);
    } catch (error) {
      this.#onFault(error);
    } finally {
      this.#waiting.delete(id);
    }
  }

  /** Tells the other nodes something that nobody waits for. */
  say(word: string, id: string): void {
    const { store, node } = this.#options;
    tell(store, store.db, CHANGES_CHANNEL, [`${word} ${node} ${id}`]).catch(this.#onFault);
  }

  readonly #onFault = (error: unknown): void =>
    this.#options.log.warn({ error }, 'a change could not be told between nodes; they hear of it within five seconds');

  #hear(payload: string): void {
    const [what, from = '', id = ''] = payload.split(' ');
    const { node, store } = this.#options;
    if (from === node) return;
    this.#silent.delete(from);
    if (what === 'changed') {
      this.#readAgain()
        .then(() => tell(store, store.db, CHANGES_CHANNEL, [`taken ${node} ${id}`]))
        .catch(this.#onFault);
      return;
    }
    if (what !== 'taken') {
      this.#options.onWord(what ?? '', id);
      return;
    }
    const waiting = this.#waiting.get(id);
    waiting?.nodes.delete(from);
    if (waiting?.nodes.size === 0) waiting.done();
  }

  /** A reading that is under way may have begun before the change; changes that come meanwhile share the next one. */
  #readAgain(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    const next = this.#reading.then(async () => {
      this.#next = undefined;
      await this.#options.read();
    });
    this.#next = next;
    this.#reading = next.catch(() => undefined);
    return next;
  }
}
