import { AbpError } from '../../contract/errors.ts';

/** Hosts of the push services that browsers use; a star stands for any names before the rest. */
const SERVICES: readonly string[] = ['fcm.googleapis.com', '*.push.services.mozilla.com', '*.push.apple.com', '*.notify.windows.com'];
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

function isService({ hostname, port }: URL): boolean {
  return port === '' && SERVICES.some((name) => (name.startsWith('*') ? hostname.endsWith(name.slice(1)) : hostname === name));
}

/**
 * The address that a browser wants its notes sent to. It comes from a page, so it must be one of a push service that is known, or that
 * the operator named. Plain HTTP is for a service of this machine alone, which somebody tries things out with.
 */
export function endpointOf(text: string, named: readonly string[]): URL {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '')
    throw new AbpError('invalid_request', 'The endpoint of the subscription is not an address.');
  const isNamed = named.includes(url.host) || named.includes(url.hostname);
  const isOwn = url.protocol === 'http:' && isNamed && LOOPBACK.has(url.hostname);
  if (url.protocol !== 'https:' && !isOwn)
    throw new AbpError('invalid_request', 'The endpoint of a subscription must be an https address.');
  if (isNamed || isService(url)) return url;
  throw new AbpError(
    'invalid_request',
    `${url.host} is no push service that this server sends notes to.`,
    { host: url.host },
    'An operator can name it under console.push_hosts.',
  );
}
