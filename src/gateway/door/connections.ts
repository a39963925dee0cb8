import type { Socket } from 'node:net';
import { FairShare } from '../../base/bounded/fair-share.ts';
import { AbpError } from '../../contract/errors.ts';

/** One open connection. */
interface Held {
  readonly socket: Socket;
  /** Who counts for it: the caller of its last request, or the address that it came from while nobody is known. */
  holder: string;
}

/**
 * Connections of callers, divided among them. Every request has a connection of its own while it lasts, also a stream of events and a
 * WebSocket: so one caller cannot take what others need to be heard at all.
 */
export class Connections {
  readonly #share: FairShare;
  readonly #held = new WeakMap<Socket, Held>();
  /** Connections that have not said whose they are, by their address; the oldest first. */
  readonly #silent = new Map<string, Set<Held>>();
  /** Under TLS the connection that requests come on is another object; address and port tell which one is inside. */
  readonly #byPort = new Map<string, Held>();

  constructor(limit: number) {
    this.#share = new FairShare(limit);
  }

  get open(): number {
    return this.#share.held;
  }

  /**
   * Counts a new connection. Where there is no room, the oldest one that has not said a word yet makes room: a caller speaks at once, and
   * those who only hold connections open lose them to those who do.
   */
  add(socket: Socket): void {
    const from = `from ${socket.remoteAddress ?? 'a room'}`;
    for (let refusal = this.#share.refusal(from); refusal !== undefined; refusal = this.#share.refusal(from)) {
      const oldest = this.#oldestSilent(refusal === 'share' ? from : undefined);
      if (oldest === undefined) {
        socket.destroy();
        return;
      }
      this.#release(oldest);
      oldest.socket.destroy();
    }
    const held: Held = { socket, holder: from };
    this.#share.take(from);
    this.#held.set(socket, held);
    this.#silentFrom(from).add(held);
    socket.once('close', () => this.#release(held));
  }

  /** A connection whose requests will come on another object. */
  addOuter(socket: Socket): void {
    this.add(socket);
    const held = this.#held.get(socket);
    if (held === undefined) return;
    const port = portOf(socket);
    this.#byPort.set(port, held);
    socket.once('close', () => this.#byPort.delete(port));
  }

  /** The object that requests of a connection come on, once TLS is agreed. */
  addInner(socket: Socket): void {
    const held = this.#byPort.get(portOf(socket));
    if (held !== undefined) this.#held.set(socket, held);
  }

  /** A request says whose connection it is from here on. Throws where this caller has its share of them. */
  assign(socket: Socket, caller: string): void {
    const held = this.#held.get(socket);
    if (held === undefined || held.holder === caller || held.socket.destroyed) return;
    this.#share.release(held.holder);
    const refusal = this.#share.refusal(caller);
    if (refusal !== undefined) {
      this.#share.take(held.holder);
      const { limit } = this.#share;
      throw new AbpError('overloaded', `This caller has its share of the ${limit} connections that this server takes.`, { limit });
    }
    this.#share.take(caller);
    this.#forgetSilent(held);
    held.holder = caller;
  }

  #release(held: Held): void {
    if (!this.#held.has(held.socket)) return;
    this.#held.delete(held.socket);
    this.#forgetSilent(held);
    this.#share.release(held.holder);
  }

  #silentFrom(from: string): Set<Held> {
    const known = this.#silent.get(from) ?? new Set();
    this.#silent.set(from, known);
    return known;
  }

  #forgetSilent(held: Held): void {
    const silent = this.#silent.get(held.holder);
    silent?.delete(held);
    if (silent?.size === 0) this.#silent.delete(held.holder);
  }

  /** Of one address, or of the one that has the most. */
  #oldestSilent(from: string | undefined): Held | undefined {
    let most: Set<Held> | undefined = from === undefined ? undefined : this.#silent.get(from);
    if (from === undefined) for (const silent of this.#silent.values()) if (silent.size > (most?.size ?? 0)) most = silent;
    const [oldest] = most ?? [];
    return oldest;
  }
}

function portOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
