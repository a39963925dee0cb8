import { CREDENTIAL_HEADERS } from '../upstream/own-secrets.ts';
import type { Deployment } from './deployment.ts';

/** Between two neighbours only (RFC 9110 §7.6.1). */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
/** The length is that of the body we send, which the HTTP client writes itself. */
const NEVER_UPSTREAM = new Set([...HOP_BY_HOP, 'host', 'expect', 'cookie', 'origin', 'referer', 'forwarded', 'content-length']);
const NEVER_DOWNSTREAM = new Set([...HOP_BY_HOP, 'set-cookie', 'alt-svc', 'strict-transport-security']);

/** Connection values that name no header of their own. */
const PLAIN_CONNECTION = new Set(['keep-alive', 'close']);

/** Lengths first: nearly every header has another one, and lowering names is most of the work here. */
function isNamed(header: string | undefined, name: string): boolean {
  return header?.length === name.length && header.toLowerCase() === name;
}

/** Names that the `Connection` header declares to be hop-by-hop too. */
function connectionNamed(headers: readonly string[]): ReadonlySet<string> | undefined {
  let named: Set<string> | undefined;
  for (let at = 0; at < headers.length; at += 2) {
    if (!isNamed(headers[at], 'connection') || PLAIN_CONNECTION.has(headers[at + 1] ?? '')) continue;
    for (const name of (headers[at + 1] ?? '').split(',')) {
      named ??= new Set();
      named.add(name.trim().toLowerCase());
    }
  }
  return named;
}

/** The caller's headers as the engine gets them: order, spelling and repetitions kept, nothing of ours and nothing of the hop. */
export function upstreamHeaders(raw: readonly string[], deployment: Deployment, ours: (credential: string) => boolean): string[] {
  const named = connectionNamed(raw);
  const out: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? '';
    const value = raw[at + 1] ?? '';
    const lower = name.toLowerCase();
    if (NEVER_UPSTREAM.has(lower) || named?.has(lower) || lower.startsWith('x-abp-') || lower.startsWith('x-forwarded-')) continue;
    if (CREDENTIAL_HEADERS.has(lower) && (deployment.auth !== 'caller' || ours(bareCredential(value)))) continue;
    out.push(name, value);
  }
  const { auth } = deployment.engine;
  if (deployment.auth === 'key' && auth !== undefined && deployment.key !== undefined)
    out.push(auth.header, `${auth.prefix}${deployment.key}`);
  return deployment.headers === undefined ? out : withConfigured(out, deployment.headers);
}

/** Headers of the configuration take the place of those of the same name. */
function withConfigured(headers: readonly string[], configured: readonly string[]): string[] {
  const named = new Set(configured.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()));
  return [...headers.filter((_, at) => !named.has(headers[at - (at % 2)]?.toLowerCase() ?? '')), ...configured];
}

/** The caller's headers as they are recorded: nothing of the hop, no credential. What it says to us stays: a rerun says it again. */
export function recordedHeaders(raw: readonly string[]): string[] {
  const named = connectionNamed(raw);
  const out: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const lower = (raw[at] ?? '').toLowerCase();
    if (NEVER_UPSTREAM.has(lower) || named?.has(lower) || lower === 'x-abp-key' || lower.startsWith('x-forwarded-')) continue;
    if (!CREDENTIAL_HEADERS.has(lower)) out.push(raw[at] ?? '', raw[at + 1] ?? '');
  }
  return out;
}

/** Headers of a translated request: ours, the dialect's and the engine's key. Nothing of the caller's goes along. */
export function engineHeaders(deployment: Deployment, dialect: Readonly<Record<string, string>>, version: string): string[] {
  const { auth } = deployment.engine;
  const key =
    deployment.auth !== 'none' && auth !== undefined && deployment.key !== undefined
      ? [auth.header, `${auth.prefix}${deployment.key}`]
      : [];
  // We ask for an answer without compression, because we have to read it to translate it.
  const ours = ['content-type', 'application/json', 'accept-encoding', 'identity', 'user-agent', `agent-backplane/${version}`];
  const headers = [...ours, ...Object.entries(dialect).flat(), ...key];
  return deployment.headers === undefined ? headers : withConfigured(headers, deployment.headers);
}

const RETRY_HINTS = ['retry-after', 'retry-after-ms'];

/** Headers in which an engine says when to come back. */
export function retryHints(headers: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    RETRY_HINTS.flatMap((name) => {
      const value = headerOf(headers, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** How a body is compressed; empty when it is not. */
export function encodingOf(headers: readonly string[]): string {
  const encoding = headerOf(headers, 'content-encoding')?.trim().toLowerCase() ?? '';
  return encoding === 'identity' ? '' : encoding;
}

/** The caller's `X-ABP-…` headers by lower-case name, for an engine inside this process. */
export function asidesOf(raw: readonly string[], deployment: Deployment): Readonly<Record<string, string>> | undefined {
  if (deployment.origin !== '') return undefined;
  const asides: Record<string, string> = {};
  for (let at = 0; at < raw.length; at += 2) {
    const lower = (raw[at] ?? '').toLowerCase();
    if (lower.startsWith('x-abp-') && lower !== 'x-abp-key') asides[lower] = raw[at + 1] ?? '';
  }
  return asides;
}

/** The credential without its scheme. */
export function bareCredential(value: string): string {
  return /^bearer\s+/i.test(value) ? value.replace(/^bearer\s+/i, '') : value;
}

/** The engine's headers as the caller gets them. */
export function downstreamHeaders(raw: readonly string[]): string[] {
  const named = connectionNamed(raw);
  const out: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const lower = (raw[at] ?? '').toLowerCase();
    if (NEVER_DOWNSTREAM.has(lower) || named?.has(lower) || lower.startsWith('access-control-') || lower.startsWith('x-abp-')) continue;
    out.push(raw[at] ?? '', raw[at + 1] ?? '');
  }
  return out;
}

/** The query as the engine gets it: a `key` stays only where the caller's own credential goes upstream. Everything else keeps its bytes. */
export function upstreamQuery(query: string, deployment: Deployment, ours: (credential: string) => boolean): string {
  if (!query.includes('=')) return query;
  const kept = query
    .slice(1)
    .split('&')
    .filter((item) => {
      const key = new URLSearchParams(item).get('key');
      return key === null || (deployment.auth === 'caller' && !ours(key));
    });
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

/** A flat list without one header. */
export function withoutHeader(raw: readonly string[], name: string): string[] {
  return raw.filter((_, at) => raw[at - (at % 2)]?.toLowerCase() !== name);
}

/** Value of a header in a flat list. */
export function headerOf(raw: readonly string[], name: string): string | undefined {
  for (let at = 0; at < raw.length; at += 2) if (isNamed(raw[at], name)) return raw[at + 1];
  return undefined;
}

/** Every value of a header, in one line as the caller meant it; undefined where it sent none. */
export function joinedHeader(raw: readonly string[], name: string): string | undefined {
  const values = raw.filter((_, at) => at % 2 === 1 && isNamed(raw[at - 1], name));
  return values.length === 0 ? undefined : values.join(', ');
}
