import { BlockList, isIP, isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Networks that are not the public internet. A tool that lets a model choose an address must not let it choose one of these. */
const BLOCKED: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // shared by carriers; some clouds keep metadata here
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // Azure's host service
  ['169.254.0.0', 16], // link-local; the metadata service of most clouds
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 96], // unspecified, loopback and IPv4-compatible
  ['::ffff:0:0:0', 96], // IPv4-translated
  ['64:ff9b::', 96], // NAT64: an IPv4 address inside
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23], // Teredo and other protocol assignments
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4: an IPv4 address inside
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

const blocked = new BlockList();
for (const [network, bits] of BLOCKED) blocked.addSubnet(network, bits, isIPv4(network) ? 'ipv4' : 'ipv6');

/** `::ffff:a.b.c.d` in any of its spellings: an IPv4 address that hides from a list of IPv4 networks. */
const mapped = new BlockList();
mapped.addSubnet('::ffff:0:0', 96, 'ipv6');

/** Whether an address lies on the public internet. Anything that is not an address does not. */
export function isPublicAddress(address: string): boolean {
  const [bare = ''] = address.split('%');
  const family = isIP(bare);
  if (family === 4) return !blocked.check(bare, 'ipv4');
  return family === 6 && !mapped.check(bare, 'ipv6') && !blocked.check(bare, 'ipv6');
}

/** The addresses of this machine, whatever networks they are of. They come and go, so they are asked for each time. */
export function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address));
}

/** Whether an address lies on the public internet and is none of this machine: what listens there is its operator's, not the world's. */
export function isElsewhere(address: string, own: readonly string[] = ownAddresses()): boolean {
  if (!isPublicAddress(address)) return false;
  const here = new BlockList();
  for (const one of own) here.addAddress(bareAddress(one), familyOf(one));
  return !here.check(bareAddress(address), familyOf(address));
}

/** Without the name of an interface, as in `fe80::1%eth0`. */
const bareAddress = (address: string): string => address.split('%')[0] ?? address;
const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6');

/** The address that a host of a URL spells out, without the brackets of IPv6; undefined for a name. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}
