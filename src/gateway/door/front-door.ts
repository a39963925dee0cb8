import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { nodeHttp } from '../../base/builtin/http.ts';
import { AbpError } from '../../contract/errors.ts';
import { newRunId, type RunId } from '../../contract/run-id.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { isVendorPath, matchPath, type PathMatch } from '../../dialects/paths.ts';
import { chooseEngine } from '../../engines/index.ts';
import { assertMayCall } from '../auth/access.ts';
import { authenticate, type Principal, parentOf, shareOf, type WhoCalls } from '../auth/principal.ts';
import { consolePrincipal } from '../console/console-cookie.ts';
import type { Gateway } from '../gateway.ts';
import type { SeenRequest } from '../telemetry/requests.ts';
import { handleVendor } from '../vendor/handle.ts';
import { markedEngine, readerOf } from '../vendor/marks.ts';
import { isModelList, isOwnList, PINNED } from '../vendor/model-lists.ts';
import { handleRaw } from '../vendor/raw.ts';
import { handleSplice } from '../vendor/splice.ts';
import type { Connections } from './connections.ts';
import { answerPreflight, isPreflight, openFor } from './cors.ts';
import { asAbpError, sendError } from './errors.ts';
import { isProblemPath } from './problem.ts';
import { parseTarget, type Target } from './target.ts';
import { hasTicket, takeTicket } from './tickets.ts';
import { isLoopbackAddress, isPassedOn, type TrustCheck } from './trust.ts';

/** A control request that passed the door. */
export interface Admitted {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly runId: RunId;
  readonly principal: Principal;
  readonly whoCalls: WhoCalls;
}

/** A request whose path and headers may pass. */
interface Arrived {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly runId: RunId;
  readonly target: Target;
  readonly match: PathMatch | undefined;
  readonly seen: SeenRequest;
  readonly whoCalls: WhoCalls;
}

/** Answers a control request, or tells `fail` why not; the front door words every refusal. */
export type ControlHandler = (admitted: Admitted, fail: (error: unknown) => void) => void;

/** Every request comes through here: trust, run id, who calls, then a vendor path or a control route. */
export class FrontDoor {
  readonly #gateway: Gateway;
  readonly #trust: TrustCheck;
  readonly #control: ControlHandler;
  readonly #connections: Connections;
  /** Origins of pages that may call from a browser. */
  readonly #origins: ReadonlySet<string>;
  /** Connections that left HTTP; the server does not know of them. */
  readonly #spliced = new Set<Socket>();
  /** Connections out of rooms, by the run that each belongs to. */
  readonly #rooms = new WeakMap<Socket, RunId>();

  #answersAll = false;

  constructor(gateway: Gateway, trust: TrustCheck, control: ControlHandler, connections: Connections) {
    this.#gateway = gateway;
    this.#trust = trust;
    this.#control = control;
    this.#connections = connections;
    this.#origins = new Set(gateway.config.server.origins);
  }

  /** A connection that came out of the room of a run: nobody on it is local, and only the key of that run is taken. */
  confine(socket: Socket, run: RunId): void {
    this.#rooms.set(socket, run);
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    // The caller of a server that is about to stop opens its next connection elsewhere, instead of losing this one.
    if (this.#gateway.draining) response.shouldKeepAlive = false;
    const runId = newRunId();
    const seen = this.#gateway.telemetry.arrived(runId, request, response);
    let target: Target | undefined;
    let match: PathMatch | undefined;
    const fail = (thrown: unknown): void => {
      const error = asAbpError(thrown);
      if (error.code === 'internal') this.#gateway.log.error({ error: thrown, run: runId }, 'a request failed');
      request.resume();
      const dialect = (match ?? (target === undefined ? undefined : ownerOf(target)))?.dialect ?? sdkOf(request, target);
      const { url, store } = this.#gateway;
      sendError(response, error, { runId, url, dialect, path: request.url, redact: store.withoutSecrets });
    };
    try {
      const ticketed = this.#first !== undefined && hasTicket(request.url ?? '/');
      const ticket = ticketed ? undefined : this.#takeTicket(request);
      target = parseTarget(request.url ?? '/');
      match = matchPath(request.method ?? 'GET', target.path, dialectsOf(target));
      const room = this.#rooms.get(request.socket);
      // No browser is in a room, and its names for this server are its own.
      if (room === undefined) {
        this.#trust(request);
        if (this.#isPreflight(request, response)) {
          answerPreflight(request, response, runId);
          return;
        }
      }
      if (ticketed) {
        seen.surface = 'control';
        this.#first?.passOn(request, response, false).catch(fail);
        return;
      }
      // Whatever a program in a room shows, it is its run and nobody else.
      const whoCalls = (room === undefined ? ticket?.() : undefined) ?? this.#whoCalls(request, target);
      const arrived: Arrived = { request, response, runId, target, match, seen, whoCalls };
      const principal = whoCalls();
      // A promise only where a key must be looked up: for everybody else it would be the dearest thing at the door.
      if (principal instanceof Promise) principal.then((known) => this.#admit(arrived, known, fail)).catch(fail);
      else this.#admit(arrived, principal, fail);
    } catch (thrown) {
      fail(thrown);
    }
  }

  /** A connection that leaves HTTP. What is refused is answered in HTTP, and the connection ends. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const runId = newRunId();
    this.#spliced.add(socket);
    socket.once('close', () => this.#spliced.delete(socket));
    const fail = (thrown: unknown): void => {
      const response = new nodeHttp.ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once('finish', () => socket.end());
      sendError(response, asAbpError(thrown), { runId, url: this.#gateway.url });
    };
    const splice = async (): Promise<void> => {
      if (this.#first !== undefined && hasTicket(request.url ?? '/')) {
        this.#trust(request);
        await this.#first.passUpgradeOn(request, socket, head);
        return;
      }
      const ticket = this.#takeTicket(request);
      const target = parseTarget(request.url ?? '/');
      this.#trust(request);
      const principal = await (ticket?.() ?? this.#whoCalls(request, target))();
      assertMayCall(principal);
      this.#connections.assign(socket, shareOf(principal));
      handleSplice(this.#gateway, { request, socket, head, runId, target, principal }, fail);
    };
    splice().catch(fail);
  }

  /** Ends the connections that left HTTP: they have no end of their own. */
  close(): void {
    for (const socket of this.#spliced) socket.destroy();
  }

  /** The process that answers what is no call to an engine; undefined where this is the one. */
  get #first(): NonNullable<Gateway['siblings']>['first'] {
    return this.#answersAll ? undefined : this.#gateway.siblings?.first;
  }

  /** From now on this process answers everything that comes through here: who uses this door means this process. */
  answerAll(): void {
    this.#answersAll = true;
  }

  /** Lets a page of an allowed origin read the answer; our own pages need no leave. Says whether its browser only asks for leave. */
  #isPreflight(request: IncomingMessage, response: ServerResponse): boolean {
    const { origin } = request.headers;
    if (origin === undefined || !this.#origins.has(origin)) return false;
    openFor(origin, response);
    return isPreflight(request);
  }

  /** Takes the ticket out of the address; the function tells its holder, and voids it. */
  #takeTicket(request: IncomingMessage): (() => WhoCalls) | undefined {
    const { url, ticket } = takeTicket(request.url ?? '/');
    if (ticket === undefined) return undefined;
    request.url = url;
    return () => this.#gateway.browsers.tickets.redeem(ticket, request.method ?? 'GET', url);
  }

  #admit(arrived: Arrived, principal: Principal, fail: (error: unknown) => void): void {
    const { request, response, runId, target, match, seen, whoCalls } = arrived;
    seen.principal = principal;
    // Who is nobody here keeps what its address has.
    if (principal.kind !== 'anonymous') this.#connections.assign(request.socket, shareOf(principal));
    if (match !== undefined || isVendorPath(target.path)) assertVendorCall(request, target, principal, match);
    if (match !== undefined) {
      seen.surface = 'vendor';
      handleVendor(this.#gateway, { request, response, runId, target, match, principal }, fail);
      return;
    }
    const engine = target.engine ?? markedEngine(target.path, request.headers);
    const listed = engine !== undefined && isOwnList(engine, request, target.path);
    if (engine !== undefined && !listed) {
      assertMayCall(principal);
      seen.surface = 'raw';
      handleRaw(this.#gateway, { request, runId, target: { ...target, engine }, principal }, response);
      return;
    }
    seen.surface = 'control';
    if (this.#first !== undefined && !OWN_PATHS.has(target.path)) {
      this.#first.passOn(request, response, principal.kind === 'local').catch(fail);
      return;
    }
    // The key in the path has done its work; routes know their own paths only.
    request.url = `${target.path}${target.query}`;
    if (listed) request.headers[PINNED] = engine;
    this.#control({ request, response, runId, principal, whoCalls }, fail);
  }

  /** The caller as its connection tells it, read once: the connection may be gone when somebody asks again. */
  #whoCalls(request: IncomingMessage, target: Target): WhoCalls {
    const room = this.#rooms.get(request.socket);
    if (room !== undefined) return () => this.#confined(request, target, room);
    const { auth, server } = this.#gateway.config;
    const near = auth.local && !server.trust_proxy && isLoopbackAddress(request.socket.remoteAddress);
    const localOpen = near && !isPassedOn(request.headers);
    return () => this.#principal(request, target, localOpen);
  }

  #principal(request: IncomingMessage, target: Target, localOpen: boolean): Principal | Promise<Principal> {
    const { keys } = this.#gateway;
    const caller = authenticate(keys, { headers: request.headers, localOpen, pathKey: target.key, queryKey: keyInQuery(target.query) });
    // The cookie of the console speaks only where no key does.
    if (request.headers.cookie === undefined || caller instanceof Promise || !UNNAMED.has(caller.kind)) return caller;
    const browser = consolePrincipal(this.#gateway, request);
    return browser instanceof Promise ? browser.then((known) => known ?? caller) : (browser ?? caller);
  }

  /** Whatever a program in a room shows, it is its run and nobody else, and it reaches engines only. */
  async #confined(request: IncomingMessage, target: Target, room: RunId): Promise<Principal> {
    const { headers } = request;
    const principal = await authenticate(this.#gateway.keys, {
      headers,
      localOpen: false,
      pathKey: target.key,
      queryKey: keyInQuery(target.query),
    });
    assertMayCall(principal);
    if (parentOf(principal) === room && isEnginePath(target)) return principal;
    throw new AbpError(
      'forbidden',
      'A confined program reaches the engine of its own run with the key of that run, and nothing else here.',
    );
  }
}

/** Questions about the process that is asked. */
const OWN_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/** Callers that showed no key of ours. */
const UNNAMED: ReadonlySet<Principal['kind']> = new Set(['local', 'anonymous']);

/** Paths that lead to an engine, and lists of models; nothing of the control plane. */
function isEnginePath({ path, engine }: Target): boolean {
  return engine !== undefined || isVendorPath(path) || isModelList(path);
}

/** A WebSocket to a path of an engine that no dialect describes. Others are refused as requests: our answer can then have the caller's shape. */
export function isSplice(request: IncomingMessage): boolean {
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') return false;
  const path = /^(?:\/k\/[^/?]+)?\/e\/([^/?]+)(\/[^?]*)/.exec(request.url ?? '/');
  return path !== null && matchPath('POST', path[2] ?? '/', chooseEngine(path[1] ?? '')?.engine.dialects) === undefined;
}

/** Refuses a call on a vendor path by its headers alone, before a byte of the body is read. */
function assertVendorCall(request: IncomingMessage, target: Target, principal: Principal, match: PathMatch | undefined): void {
  assertMayCall(principal);
  if (request.headers.upgrade?.toLowerCase() === 'websocket') {
    throw new AbpError('upgrade_required', `${target.path} has no WebSocket form here; use HTTP.`);
  }
  if (match === undefined) {
    const allow = methodsOf(target.path).join(', ');
    throw new AbpError('method_not_allowed', `${request.method} is not a method of ${target.path}; use ${allow}.`, { allow });
  }
}

const METHODS = ['GET', 'POST'];

/** The dialects of the engine that the path pins. */
function dialectsOf({ engine }: Target): readonly string[] | undefined {
  return engine === undefined ? undefined : chooseEngine(engine)?.engine.dialects;
}

/** Whose SDK reads a refusal on a path of no dialect; those of the agent plane have a shape of their own. */
function sdkOf({ headers }: IncomingMessage, target: Target | undefined): Dialect | undefined {
  return target !== undefined && isProblemPath(target.path) && target.engine === undefined ? undefined : readerOf(headers, target?.engine);
}

/** Whose path it is, whatever the method: a refusal has the shape that its SDK reads. */
function ownerOf(target: Target): PathMatch | undefined {
  return METHODS.map((method) => matchPath(method, target.path, dialectsOf(target))).find((match) => match !== undefined);
}

function methodsOf(path: string): string[] {
  return METHODS.filter((method) => matchPath(method, path) !== undefined);
}

/** Gemini's SDKs may put the key into the query. */
function keyInQuery(query: string): string | undefined {
  return query.includes('key=') ? (new URLSearchParams(query).get('key') ?? undefined) : undefined;
}
