import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { AbpError } from '../contract/errors.ts';
import { isElsewhere } from './outbound-addresses.ts';

type Answered = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;
/** How a name becomes addresses; the system's resolver, or a test's own. */
export type Resolver = (hostname: string, answered: Answered) => void;

/** The function by which `net.connect` finds the address it connects to. */
type Lookup = (
  hostname: string,
  options: LookupOptions,
  done: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
) => void;

export const systemResolver: Resolver = (hostname, answered) => systemLookup(hostname, { all: true }, answered);

/** Who calls, and the setting under which an operator names hosts that may be private. */
export interface Reach {
  readonly who: string;
  readonly setting: string;
}

export const TOOLS: Reach = { who: 'tools reach', setting: 'tools.allow_hosts' };

export function blockedHost(host: string, reason: string, { who, setting }: Reach): AbpError {
  return new AbpError('E005', `${host} ${reason}; ${who} public addresses only. An operator can name it under ${setting}.`, { host });
}

/**
 * A lookup for `net.connect` that answers with public addresses or not at all. It is the only resolver of the connection, so the address
 * that was judged is the address that is used: a name cannot be public when asked and private when called.
 */
export function publicLookup(resolve: Resolver, reach: Reach = TOOLS): Lookup {
  return (hostname, options, done) =>
    resolve(hostname, (error, addresses) => {
      if (error !== null) return done(error, []);
      const [first] = addresses;
      // One private address among public ones is how a rebinding name looks; none of them is used.
      if (first === undefined || !addresses.every(({ address }) => isElsewhere(address))) {
        return done(blockedHost(hostname, 'resolves to an address that is not public, or one of this machine', reach), []);
      }
      return options.all === true ? done(null, addresses) : done(null, first.address, first.family);
    });
}
