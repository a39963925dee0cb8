import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import findMyWay from 'find-my-way';
import { ownTurn } from '../../base/bounded/turns.ts';
import { parseJson } from '../../base/json.ts';
import { jsonExcess, jsonMarks } from '../../base/json-limits.ts';
import { marksIn, repeatedMember } from '../../base/json-repeats.ts';
import { parseAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import { audited } from '../audit/audited.ts';
import { authorize } from '../auth/access.ts';
import { type Permission, permissionOf } from '../auth/permissions.ts';
import { shareOf } from '../auth/principal.ts';
import { ReaderWatch } from '../auth/reader-watch.ts';
import { acceptsGzip } from '../console/console-files.ts';
import type { Gateway } from '../gateway.ts';
import { Reply } from '../reply.ts';
import type { Route } from '../route.ts';
import type { Admitted, ControlHandler } from './front-door.ts';
import { readBody } from './request-body.ts';
import { sendReply } from './send-reply.ts';

const MIB = 1024 * 1024;
/** Shorter bodies are read at once. */
const LONG = 32 * 1024;
/** Schemas of tools are the deepest that anybody sends here, and receipts the longest. */
const CONTROL_JSON = { depth: 100, values: 50_000 };

/** The control plane: routes as data behind one router. It never sees a request that the front door has not admitted. */
export function controlPlane(gateway: Gateway, routes: readonly Route[]): ControlHandler {
  const router = new RouteFinder(routes);
  const readers = new ReaderWatch();
  return (admitted, fail) => {
    serve(gateway, router, admitted)
      .then((result) => {
        sendReply(admitted, result, fail);
        watchReader(readers, router, admitted, result);
      })
      .catch(fail);
  };
}

/** A stream of events ends where its reader may no longer read it; anything else that was begun is finished. */
function watchReader(
  readers: ReaderWatch,
  router: RouteFinder,
  { request, response, principal, whoCalls }: Admitted,
  result: unknown,
): void {
  const stream =
    result instanceof Reply && String(result.headers['content-type']).startsWith('text/event-stream') ? result.body : undefined;
  if (!(stream instanceof Readable) || response.writableEnded) return;
  const { permission } = router.find(request.method ?? 'GET', request.url ?? '/');
  const end = (): void => {
    stream.unpipe(response);
    response.end();
  };
  response.once('close', readers.add({ principal, permission, whoCalls, end }));
}

/** Runs the route of a request. Path, method and caller are looked at before a byte of the body is read. */
async function serve(gateway: Gateway, router: RouteFinder, admitted: Admitted): Promise<unknown> {
  const { request, principal } = admitted;
  if (wantsPage(request) && !router.knows(request.url ?? '/')) return await gateway.browsers.files.nowhere(acceptsGzip(request.headers));
  const found = router.find(request.method ?? 'GET', request.url ?? '/');
  authorize(principal, found.permission);
  return await handled(gateway, found, admitted);
}

/** Paths below which programs ask: an unknown one of these is answered as programs read it, to browsers too. */
const OF_PROGRAMS = /^\/(?:v1|v1beta|e|docs|assets)(?:\/|$)/i;

/** Whether somebody looks for a page, as a browser does whose address was typed or followed. */
function wantsPage({ method, url = '/', headers }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && String(headers.accept ?? '').includes('text/html') && !OF_PROGRAMS.test(url);
}

/** Reads the body and lets the route answer. */
async function handled(
  gateway: Gateway,
  { route, params, query }: FoundRoute,
  { request, runId, principal, whoCalls }: Admitted,
): Promise<unknown> {
  const bodyType = bodyTypeOf(request, route);
  const holding = gateway.calls.budget.holding(shareOf(principal));
  try {
    const { control_body_mb: most, vendor_body_mb: largest } = gateway.config.limits;
    const limit = (route.handleLarge === undefined ? most : Math.max(most, largest)) * MIB;
    const bytes = bodyType === undefined ? undefined : await wholeBody(request, limit, holding);
    const common = { gateway, principal, whoCalls, runId, headers: request.headers };
    // Reading a long body takes milliseconds, and checking it as many again.
    const inTurn = async (): Promise<void> => (bytes !== undefined && bytes.length > LONG ? await ownTurn() : undefined);
    await inTurn();
    if (bytes !== undefined && route.handleLarge !== undefined && isLarge(bytes, most))
      return await route.handleLarge({ ...common, bytes });
    const read = bytes === undefined ? undefined : bodyType?.read(bytes);
    await inTurn();
    const input = {
      ...common,
      params: route.params === undefined ? {} : parseAt(route.params, params, 'path'),
      query: route.query === undefined ? {} : parseAt(route.query, query, 'query'),
      body: route.body === undefined ? {} : parseAt(route.body, read ?? {}, 'request body'),
    };
    await inTurn();
    const answer = await audited(route, input, () => route.handle(input));
    if (isShared(route)) await gateway.sharedChanges?.tell();
    return answer;
  } finally {
    holding.release();
  }
}

/** Every node keeps these tables in memory, so a change of one is told to the others. By the first word of the action in the audit log. */
const SHARED: ReadonlySet<string | undefined> = new Set(['key', 'user', 'team', 'budget', 'routes', 'sign_in', 'browser']);

function isShared({ audit }: Route): boolean {
  return SHARED.has(audit?.action.split('.')[0]);
}

/** Whether a body is more than a control path reads as a value, because other calls would wait meanwhile. */
function isLarge(bytes: Buffer, most: number): boolean {
  return bytes.length > most * MIB || jsonExcess(bytes.toString('utf8'), CONTROL_JSON) !== undefined;
}

interface Asked {
  readonly route: Route;
  readonly permission: Permission;
}

interface FoundRoute extends Asked {
  /** As they stand in the address: the route's own schemas read them. */
  readonly params: object;
  readonly query: object;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

class RouteFinder {
  /** A path whose escapes are broken is found too, with no route. */
  readonly #router = findMyWay({ onBadUrl: unreached });

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const methods: (Route['method'] | 'HEAD')[] = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method];
      const asked: Asked = { route, permission: permissionOf(route) };
      this.#router.on(methods, route.path.replaceAll(/\{(\w+)\}/g, ':$1'), unreached, asked);
    }
  }

  find(method: string, url: string): FoundRoute {
    const known = METHODS.find((one) => one === method);
    return (known === undefined ? undefined : this.#find(known, url)) ?? this.#unknown(method, url);
  }

  knows(url: string): boolean {
    return METHODS.some((method) => this.#find(method, url) !== undefined);
  }

  #find(method: (typeof METHODS)[number], url: string): FoundRoute | undefined {
    const found = this.#router.find(method, url);
    if (found === null) return undefined;
    const asked: Asked | null = found.store; // the one given to `on`
    if (asked === null) throw new AbpError('invalid_request', 'The path holds a broken escape.');
    return { ...asked, params: found.params, query: found.searchParams };
  }

  #unknown(method: string, url: string): never {
    const [path = ''] = url.split('?');
    // A path that answers GET answers HEAD; that is not worth a word.
    const methods = METHODS.filter((one) => one !== 'HEAD' && this.#find(one, path) !== undefined);
    if (methods.length === 0) throw new AbpError('not_found', `There is no path ${path}.`);
    const allow = methods.join(', ');
    throw new AbpError('method_not_allowed', `${method} is not a method of ${path}; use ${allow}.`, { allow });
  }
}

/** The router only finds; it calls nothing. */
function unreached(): never {
  throw new AbpError('internal', 'the router was asked to call a route');
}

interface BodyType {
  read(bytes: Buffer): unknown;
}

const JSON_BODY: BodyType = {
  read: (bytes) => {
    const text = bytes.toString('utf8');
    const excess = jsonExcess(text, CONTROL_JSON);
    if (excess !== undefined) throw new AbpError('payload_too_large', `The request body is more than a control path takes: ${excess}.`);
    const parsed = parseJson(text);
    if (!parsed.ok) throw new AbpError('invalid_request', `The request body is not valid JSON: ${parsed.message}.`);
    // Of a member that is there twice one reader takes the first and another the last.
    const repeated = jsonMarks(text) === marksIn(parsed.value) ? undefined : repeatedMember(text);
    if (repeated !== undefined) throw new AbpError('invalid_request', `The member "${repeated}" is repeated in the request body.`);
    return parsed.value;
  },
};

/** Browsers ask before they send this type to another site, as they do for JSON. */
const MARKDOWN_BODY: BodyType = { read: (bytes) => ({ markdown: bytes.toString('utf8') }) };

/** How the body of the request is read; undefined where it has none. */
function bodyTypeOf({ method, headers }: IncomingMessage, route: Route): BodyType | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined;
  const type = headers['content-type'];
  const isEmpty = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
  const mediaType = type?.split(';')[0]?.trim().toLowerCase();
  // Many clients name the type of a body that they do not send.
  if (isEmpty && (mediaType === undefined || mediaType === 'application/json')) return undefined;
  if (mediaType === 'application/json') return JSON_BODY;
  if (mediaType === 'text/markdown' && route.takesMarkdown === true) return MARKDOWN_BODY;
  throw new AbpError('unsupported_media_type', 'This path takes application/json.');
}

function wholeBody(request: IncomingMessage, limit: number, holding: Parameters<typeof readBody>[2]): Promise<Buffer> {
  return new Promise((done, fail) => readBody(request, limit, holding, { done, fail }));
}
