import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { RunId } from '../../contract/run-id.ts';

const METHODS = 'GET, POST, PUT, PATCH, DELETE';
/** How long a browser may remember that it may ask; an origin that the operator takes away is refused by the request itself. */
const PREFLIGHT_S = 600;
/** Headers of an answer that a page may read beside those that every page may. */
const EXPOSED = [
  'X-ABP-Run-Id',
  'X-ABP-Engine',
  'X-ABP-Attempts',
  'X-ABP-Deployment',
  'X-ABP-Cache',
  'X-Should-Retry',
  'Retry-After',
  'Request-Id',
  'X-Request-Id',
  'Allow',
].join(', ');

/** A browser's question whether a page may send a request. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

/** Says yes to a browser that asks for a page of an allowed origin. Who may do what is decided when the request itself comes. */
export function answerPreflight({ headers }: IncomingMessage, response: ServerResponse, runId: RunId): void {
  const asked = headers['access-control-request-headers'];
  response.writeHead(204, [
    'Access-Control-Allow-Methods',
    METHODS,
    ...(asked === undefined ? [] : ['Access-Control-Allow-Headers', asked]),
    // Chromium asks separately before a page from outside may reach an address of this machine.
    ...(headers['access-control-request-private-network'] === 'true' ? ['Access-Control-Allow-Private-Network', 'true'] : []),
    'Access-Control-Max-Age',
    String(PREFLIGHT_S),
    'Vary',
    'Access-Control-Request-Method, Access-Control-Request-Headers',
    'X-ABP-Run-Id',
    runId,
  ]);
  response.end();
}

/**
 * Lets a page of an allowed origin read the answer of a relay, of a control route or of a refusal. An engine's own CORS headers
 * speak of the engine's pages and are left out. Credentials stay off, so no cookie of ours is ever used for another origin.
 */
export function openFor(origin: string, response: ServerResponse): void {
  const writeHead = response.writeHead.bind(response);
  response.writeHead = (status: number, ...rest: readonly unknown[]): typeof response => {
    const reason = typeof rest[0] === 'string' ? rest[0] : undefined;
    const given = pairsOf(reason === undefined ? rest[0] : rest[1]);
    const vary = given.filter(([name]) => name.toLowerCase() === 'vary').map(([, value]) => String(value));
    const kept = given.filter(
      ([name]) => !/^(?:vary|access-control-allow-origin|access-control-(?:allow-credentials|expose-headers))$/i.test(name),
    );
    const headers = [
      ...kept,
      ['Access-Control-Allow-Origin', origin],
      ['Access-Control-Expose-Headers', EXPOSED],
      ['Vary', ['Origin', ...vary].join(', ')],
    ];
    return reason === undefined ? writeHead(status, headers.flat()) : writeHead(status, reason, headers.flat());
  };
}

type Pair = readonly [name: string, value: OutgoingHttpHeader];

/** The headers of `writeHead` in any of the forms that Node takes. */
function pairsOf(headers: unknown): Pair[] {
  if (!Array.isArray(headers))
    return Object.entries(headers ?? {}).filter((pair): pair is [string, OutgoingHttpHeader] => pair[1] !== undefined);
  if (Array.isArray(headers[0])) return headers;
  return Array.from({ length: headers.length / 2 }, (_, at): Pair => [String(headers[2 * at]), headers[2 * at + 1]]);
}
