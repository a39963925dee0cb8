import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { globMatch } from '../base/glob.ts';
import { isElsewhere } from '../upstream/outbound-addresses.ts';

/** A rule for hosts as a proxy compares it. */
export interface HostPattern {
  /** In the form that a URL gives a host: lower case, letters of other alphabets written in ASCII, addresses in their one spelling. */
  readonly name: string;
  readonly port?: number;
}

/** Ports that a rule without a port opens. */
export const USUAL_PORTS: readonly number[] = [80, 443];
const MOST_PORT = 65_535;

/** Names are compared in lower case and without the dot of the root. More dots than that one must not make another name of a denied host. */
export function hostName(name: string): string {
  let end = name.length;
  while (name[end - 1] === '.') end -= 1;
  return name.slice(0, end).toLowerCase();
}

/** Reads a rule for hosts. Throws on one that no host can ever be compared with: it would hold nothing, and look as if it did. */
export function hostPattern(text: string): HostPattern {
  const pattern = patternOf(text);
  if (pattern === undefined) {
    throw new Error(`${JSON.stringify(text)} names no host: it is a name or an address, * for any characters, and a port if need be`);
  }
  return pattern;
}

/** The beginning of an address of IPv6, or another part of it, as `2606:4700:*`. */
const ADDRESS_GLOB = /^(?=.*:.*:)(?=.*\*)[\da-f:*]+$/i;

const read = new Map<string, HostPattern | undefined>();
/** Each connection is compared with every rule; more of them than these are read anew. */
const MOST_READ = 1000;

function patternOf(text: string): HostPattern | undefined {
  if (read.has(text)) return read.get(text);
  if (read.size >= MOST_READ) read.clear();
  const pattern = parsed(text.trim());
  read.set(text, pattern);
  return pattern;
}

function parsed(text: string): HostPattern | undefined {
  if (isIP(text) === 6) return withPort(addressName(text), undefined);
  if (ADDRESS_GLOB.test(text)) return { name: text.toLowerCase() };
  const found = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text);
  const [, bracketed, bare, port] = found ?? [];
  if (bracketed !== undefined && ADDRESS_GLOB.test(bracketed)) return withPort(bracketed.toLowerCase(), port);
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? withPort(addressName(bracketed), port) : undefined;
  return bare === undefined ? undefined : withPort(plainName(hostName(bare)), port);
}

function withPort(name: string | undefined, written: string | undefined): HostPattern | undefined {
  if (name === undefined || written === undefined) return name === undefined ? undefined : { name };
  const port = Number(written);
  return port >= 1 && port <= MOST_PORT ? { name, port } : undefined;
}

/** An address of IPv6 has many spellings; hosts come in that of a URL. */
function addressName(address: string): string | undefined {
  const url = `http://[${address}]`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : undefined;
}

/** A name, an address of IPv4 in any spelling that a URL takes, or a glob of either. */
function plainName(name: string): string | undefined {
  if (name === '' || name.startsWith('.') || name.includes('..') || /[\s/\\?#@%[\]{}<>^|,]/.test(name)) return undefined;
  if (name.includes('*')) return globName(name);
  return URL.canParse(`http://${name}`) ? hostName(new URL(`http://${name}`).hostname) : undefined;
}

/** A label that holds both a `*` and letters of another alphabet has no form in ASCII. */
function globName(name: string): string | undefined {
  const labels = name.split('.').map((label) => {
    if (/^[\x21-\x7e]*$/.test(label)) return label;
    return label.includes('*') ? '' : domainToASCII(label);
  });
  return labels.includes('') ? undefined : labels.join('.');
}

/** Whether a host on a port is meant. A pattern without a port means every port when it denies, and the usual ones when it allows. */
export function matchesHost(text: string, host: string, port: number, unnamed: 'any' | 'usual'): boolean {
  const pattern = patternOf(text);
  if (pattern === undefined || !globMatch(pattern.name, host)) return false;
  if (pattern.port !== undefined) return pattern.port === port;
  return unnamed === 'any' || USUAL_PORTS.includes(port);
}

/** Whether a rule is about names of hosts, not of addresses. */
export function isOfNames(text: string): boolean {
  const { name = '' } = patternOf(text) ?? {};
  return /[a-z]/.test(name) && isIP(name) === 0;
}

/** An address that is not public is reached only where a rule names that very address. */
export function isNamed(allow: readonly string[], address: string, port: number): boolean {
  return allow.some((text) => patternOf(text)?.name === address && matchesHost(text, address, port, 'usual'));
}

/** Whether a rule opens an address that is not public, or one of this machine: of the operator, not of somebody on the internet. */
export function opensPrivateAddress(text: string): boolean {
  const { name = '' } = patternOf(text) ?? {};
  return isIP(name) !== 0 && !isElsewhere(name);
}

/**
 * The part of `wished` that lies within `outer`, as a rule; undefined where none does. An address that is not public lies only within a rule that
 * names it, and a port that is not one of the usual only within a rule that names that port.
 */
export function withinHosts(outer: string, wished: string): string | undefined {
  const [around, own] = [patternOf(outer), patternOf(wished)];
  if (around === undefined || own === undefined || !globMatch(around.name, own.name)) return undefined;
  if (opensPrivateAddress(wished) && around.name !== own.name) return undefined;
  if (around.port === own.port) return wished;
  if (around.port === undefined) return own.port !== undefined && USUAL_PORTS.includes(own.port) ? wished : undefined;
  if (own.port !== undefined || !USUAL_PORTS.includes(around.port)) return undefined;
  return isIP(own.name) === 6 ? `[${own.name}]:${around.port}` : `${own.name}:${around.port}`;
}
