import { randomToken } from '../../base/ids.ts';
import { AbpError } from '../../contract/errors.ts';
import { type Principal, shareOf, type WhoCalls } from '../auth/principal.ts';

interface Ticket {
  readonly url: string;
  readonly principal: Principal;
  readonly whoCalls: WhoCalls;
  readonly expiresAt: number;
}

/** Long enough to open a connection, and too short to be worth stealing out of a log. */
const TICKET_MS = 60_000;
/** Of one caller; a page needs a few. */
const MOST_OF_CALLER = 200;
const MOST_TICKETS = 10_000;

/**
 * Stands in for a key where a browser can send no header: `EventSource` and `WebSocket`. A ticket opens one address, once, as the one who
 * asked for it. Tickets live in the memory of the process that gave them.
 */
export class Tickets {
  readonly #open = new Map<string, Ticket>();

  give(url: string, principal: Principal, whoCalls: WhoCalls): { readonly ticket: string; readonly expiresAt: number } {
    const now = Date.now();
    const caller = shareOf(principal);
    const own: string[] = [];
    for (const [ticket, { expiresAt, principal: owner }] of this.#open) {
      if (expiresAt <= now) this.#open.delete(ticket);
      else if (shareOf(owner) === caller) own.push(ticket);
    }
    // A caller who asks for many loses its own oldest ones, and nobody else's.
    for (const ticket of own.slice(0, Math.max(0, own.length - MOST_OF_CALLER + 1))) this.#open.delete(ticket);
    if (this.#open.size >= MOST_TICKETS) throw new AbpError('overloaded', 'Too many tickets wait to be used.');
    const ticket = randomToken(24);
    const expiresAt = now + TICKET_MS;
    this.#open.set(ticket, { url, principal, whoCalls, expiresAt });
    return { ticket, expiresAt };
  }

  /** Who asked for the ticket; it is void from then on, also when it was shown at the wrong address. */
  redeem(ticket: string, method: string, url: string): WhoCalls {
    const known = this.#open.get(ticket);
    this.#open.delete(ticket);
    if (known === undefined || known.expiresAt <= Date.now()) {
      throw new AbpError('unauthenticated', 'The ticket was used before or is too old; POST /v1/tickets gives a fresh one.');
    }
    if (method !== 'GET' || known.url !== url) throw new AbpError('forbidden', `The ticket is for GET ${known.url} alone.`);
    return known.whoCalls;
  }
}

export function hasTicket(url: string): boolean {
  return url.includes('ticket=') && takeTicket(url).ticket !== undefined;
}

/** Takes `ticket` out of an address, so that no log, error or engine sees it. */
export function takeTicket(url: string): { readonly url: string; readonly ticket: string | undefined } {
  if (!url.includes('ticket=')) return { url, ticket: undefined };
  const mark = url.indexOf('?');
  if (mark === -1) return { url, ticket: undefined };
  const members = url.slice(mark + 1).split('&');
  const ticket = members.find((member) => member.startsWith('ticket='))?.slice('ticket='.length);
  const query = members.filter((member) => !member.startsWith('ticket=')).join('&');
  return { url: `${url.slice(0, mark)}${query === '' ? '' : `?${query}`}`, ticket };
}
