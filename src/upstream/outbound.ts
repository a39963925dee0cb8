import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { AbpError } from '../contract/errors.ts';
import { isElsewhere, literalAddress } from './outbound-addresses.ts';
import { blockedHost, publicLookup, type Reach, type Resolver, systemResolver, TOOLS } from './outbound-lookup.ts';

export interface OutboundOptions {
  /** Hosts, with or without a port, that an operator trusts although they are private. */
  readonly allow?: readonly string[];
  /** The words of a refusal; default: those of tools. */
  readonly reach?: Reach;
  /** Default: the system's. */
  readonly resolve?: Resolver;
}

export interface OutboundRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the whole exchange is given up; a stream has no such end unless it is named. */
  readonly timeoutMs?: number;
  /** Default 5; 0 answers with the redirect itself. */
  readonly maxRedirects?: number;
}

/** An answer whose body has not been read. */
export interface OutboundStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly body: Readable;
}

/** An answer in memory, cut at a limit. */
export interface OutboundAnswer extends Omit<OutboundStream, 'body'> {
  readonly body: Buffer;
  readonly truncated: boolean;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Headers that may follow a redirect to another origin; everything else may be a credential. */
const HARMLESS: ReadonlySet<string> = new Set(['accept', 'accept-language', 'accept-encoding', 'user-agent']);

interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
}

/**
 * The one client for calls to places that are not configured engines: tools, MCP servers, webhooks. It connects to public addresses
 * only, by the address that was checked, and checks every redirect anew. It does not use the environment's proxy, which would resolve
 * names a second time.
 */
export class Outbound {
  readonly #allow: ReadonlySet<string>;
  readonly #resolve: Resolver;
  readonly #reach: Reach;
  #guarded: Promise<Dispatcher> | undefined;
  #trusted: Promise<Dispatcher> | undefined;

  constructor(options: OutboundOptions = {}) {
    this.#allow = new Set((options.allow ?? []).map((host) => host.toLowerCase()));
    this.#resolve = options.resolve ?? systemResolver;
    this.#reach = options.reach ?? TOOLS;
  }

  /** The whole answer, decoded, up to `maxBytes`. */
  async read(request: OutboundRequest, maxBytes: number): Promise<OutboundAnswer> {
    const { body, ...head } = await this.send({ timeoutMs: DEFAULT_TIMEOUT_MS, ...request });
    const decoded = decode(body, head.headers['content-encoding']);
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of decoded) {
        const data = Buffer.from(chunk as Uint8Array); // no encoding is set, so chunks are bytes
        chunks.push(data);
        bytes += data.length;
        if (bytes > maxBytes) break;
      }
    } catch (error) {
      throw failureOf(error, head.url);
    } finally {
      discard(body);
    }
    return { ...head, body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: bytes > maxBytes };
  }

  /** The answer's head, after redirects, and its body as it arrives. */
  async send(request: OutboundRequest): Promise<OutboundStream> {
    const signals = [request.signal, request.timeoutMs === undefined ? undefined : AbortSignal.timeout(request.timeoutMs)];
    const signal = AbortSignal.any(signals.filter((one) => one !== undefined));
    let hop: Hop = {
      url: parseUrl(request.url),
      method: request.method ?? 'GET',
      headers: { 'accept-encoding': 'identity', 'user-agent': 'agent-backplane', ...lowerCased(request.headers ?? {}) },
      body: request.body ?? null,
    };
    for (let left = request.maxRedirects ?? MAX_REDIRECTS; ; left -= 1) {
      const answer = await this.#exchange(hop, signal);
      if (!REDIRECTS.has(answer.status) || answer.headers.location === undefined || request.maxRedirects === 0) return answer;
      discard(answer.body);
      if (left <= 0) throw new AbpError('E005', `${request.url} redirects too often.`);
      hop = redirected(hop, answer.status, answer.headers.location);
    }
  }

  async close(): Promise<void> {
    const opened = await Promise.all([this.#guarded, this.#trusted]);
    await Promise.all(opened.map((agent) => agent?.destroy()));
  }

  async #exchange({ url, method, headers, body }: Hop, signal: AbortSignal): Promise<OutboundStream> {
    const agent = await this.#agentFor(url);
    try {
      const answer = await agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: method as Dispatcher.HttpMethod, // a token; undici refuses what is none
        headers: { ...headers },
        body,
        signal,
      });
      return { status: answer.statusCode, headers: flat(answer.headers), url: url.href, body: answer.body };
    } catch (error) {
      throw failureOf(error, url.href);
    }
  }

  #agentFor(url: URL): Promise<Dispatcher> {
    if (this.#allow.has(url.hostname) || this.#allow.has(url.host)) {
      this.#trusted ??= newAgent({});
      return this.#trusted;
    }
    const literal = literalAddress(url.hostname);
    if (literal !== undefined && !isElsewhere(literal))
      throw blockedHost(url.host, 'is not a public address, or one of this machine', this.#reach);
    this.#guarded ??= newAgent({ lookup: publicLookup(this.#resolve, this.#reach) });
    return this.#guarded;
  }
}

/** Undici as a whole is loaded at the first call: a server without tools never needs it. */
async function newAgent(connect: object): Promise<Dispatcher> {
  const { Agent } = await import('undici');
  return new Agent({ connect: { timeout: 10_000, ...connect }, maxHeaderSize: 64 * 1024, headersTimeout: 60_000, bodyTimeout: 300_000 });
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new AbpError('invalid_request', `"${text.slice(0, 200)}" is not an http or https address.`);
  }
  if (url.username !== '' || url.password !== '') throw new AbpError('invalid_request', 'An address must not hold a user or a password.');
  return url;
}

function redirected(hop: Hop, status: number, location: string): Hop {
  const url = parseUrl(URL.parse(location, hop.url.href)?.href ?? location);
  if (hop.url.protocol === 'https:' && url.protocol === 'http:')
    throw new AbpError('E005', `${hop.url.host} redirects from https to http.`);
  const turnsToGet = status === 303 || (hop.method === 'POST' && (status === 301 || status === 302));
  const sameOrigin = url.origin === hop.url.origin;
  if (!sameOrigin && !turnsToGet && hop.body !== null) throw new AbpError('E005', `${hop.url.host} redirects a body to ${url.host}.`);
  const kept = Object.entries(hop.headers).filter(
    ([name]) => (sameOrigin || HARMLESS.has(name)) && !(turnsToGet && name.startsWith('content-')),
  );
  return { url, method: turnsToGet ? 'GET' : hop.method, headers: Object.fromEntries(kept), body: turnsToGet ? null : hop.body };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

/** An answer that nobody reads; what its connection still has to say is of no interest. */
function discard(body: Readable): void {
  body.on('error', () => undefined).destroy();
}

function decode(body: Readable, encoding: string | undefined): Readable {
  const decoder = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress }[encoding ?? ''];
  if (decoder === undefined) return body;
  const decoded = decoder();
  body.once('error', (error) => decoded.destroy(error));
  return body.pipe(decoded);
}

/** The refusal that a connection carries inside its error, or why there was no answer. */
function failureOf(error: unknown, url: string): AbpError {
  for (let inner: unknown = error; inner instanceof Error; inner = inner.cause) if (AbpError.is(inner)) return inner;
  const where = URL.parse(url)?.host ?? url;
  const name = error instanceof Error ? error.name : '';
  if (name === 'TimeoutError' || name === 'HeadersTimeoutError' || name === 'BodyTimeoutError') {
    return new AbpError('engine_timeout', `${where} did not answer in time.`);
  }
  if (name === 'AbortError') return new AbpError('request_timeout', `The call to ${where} was given up.`);
  return new AbpError('E007', `${where} cannot be reached: ${error instanceof Error ? error.message : String(error)}`, {
    backend_id: where,
  });
}
