import { type Json, type JsonObject, parseJson } from '../../base/json.ts';
import type { OutboundAnswer, OutboundRequest } from '../../upstream/outbound.ts';
import { outcome } from '../tools/define-tool.ts';
import { refusedCaller, refusedPlace, type Secret, type Secrets } from '../tools/secrets.ts';
import type { Surroundings } from '../tools/surroundings.ts';
import { type Tool, type ToolContext, ToolFailure } from '../tools/tool.ts';
import type { HttpTool } from './definition.ts';
import { type Filling, fillJson, fillText, placesIn } from './template.ts';

/** With status and quotes it stays below what a model gets of one result. */
const MAX_BYTES = 60 * 1024;
const MAX_ERROR = 2000;

/** A tool that is a call to a service. */
export function httpTool(definition: HttpTool, config: JsonObject, { outbound, secrets }: Surroundings): Tool {
  const { name, description, policy, parameters, timeout_s: timeout } = definition;
  const timeoutMs = timeout * 1000;
  return {
    name,
    description,
    policy,
    parameters,
    effect: definition.effect ?? (definition.method === 'GET' ? 'idempotent' : 'at_most_once'),
    timeoutMs,
    execute: async (input, context) => {
      const answer = await outcome(async () => {
        const request = requestOf(definition, { input, config, secrets }, context);
        return read(await outbound.read({ ...request, signal: context.signal, timeoutMs }, MAX_BYTES), secrets);
      });
      // A failure on the way may name the address, which may hold a secret.
      return 'error' in answer ? { error: secrets.redact(answer.error) } : answer;
    },
  };
}

/** The call as it goes out. */
function requestOf(definition: HttpTool, filling: Filling, { callId, behalf }: Pick<ToolContext, 'callId' | 'behalf'>): OutboundRequest {
  const url = urlOf(definition, filling);
  const body = definition.body === undefined ? undefined : fillJson(definition.body, filling);
  const headers = {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    // The service can tell a second attempt of the same call by it.
    ...(definition.method === 'GET' ? {} : { 'idempotency-key': callId }),
    ...filledValues(definition.headers, filling),
  };
  if (Object.values(headers).some((value) => /[\r\n\0]/.test(value))) throw new ToolFailure('A header value holds a line break.');
  for (const name of secretsOf(definition)) {
    const refused = refusal(filling.secrets.find(name), name, { url, method: definition.method, behalf });
    if (refused !== undefined) throw new ToolFailure(refused);
  }
  return { url: url.href, method: definition.method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
}

function filledValues(templates: Readonly<Record<string, string>>, filling: Filling): Record<string, string> {
  return Object.fromEntries(
    Object.entries(templates).flatMap(([name, template]) => {
      const value = fillText(template, filling);
      return value === undefined ? [] : [[name.toLowerCase(), value]];
    }),
  );
}

/** Values of a path are single segments: they cannot leave the path the definition gives, nor its host. */
function urlOf(definition: HttpTool, filling: Filling): URL {
  const text = definition.url.replaceAll(/\{\{[^{}]*\}\}/g, (place) =>
    encodeURIComponent((fillText(place, filling) ?? missing(place)).toWellFormed()),
  );
  const [path = ''] = text.split(/[?#]/);
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))) throw new ToolFailure('The path holds a dot segment.');
  const url = new URL(text);
  for (const [name, value] of Object.entries(filledValues(definition.query, filling))) url.searchParams.set(name, value);
  return url;
}

function missing(place: string): never {
  throw new ToolFailure(`${place.replaceAll(/[{}\s]/g, '')} is missing.`);
}

/** Its host and method are checked when the tool is defined and again here: an operator may have narrowed a secret since. */
function refusal(
  secret: Secret | undefined,
  name: string,
  { url, method, behalf }: { url: URL; method: string; behalf: ToolContext['behalf'] },
): string | undefined {
  if (secret === undefined) return `The secret ${name} is not configured on this server.`;
  return refusedPlace(secret, url, method) ?? refusedCaller(secret, behalf);
}

/** Names of the secrets that a tool uses. */
export function secretsOf({ url, query, headers, body }: HttpTool): string[] {
  const templates = [url, ...Object.values(query), ...Object.values(headers), JSON.stringify(body ?? null)];
  const names = templates.flatMap(placesIn).filter(({ room }) => room === 'secret');
  return [...new Set(names.map(({ name }) => name))];
}

function read(answer: OutboundAnswer, secrets: Secrets): Json {
  const text = secrets.redact(answer.body.toString('utf8'));
  if (answer.status >= 400) {
    throw new ToolFailure(`${URL.parse(answer.url)?.host} answered ${answer.status}: ${text.slice(0, MAX_ERROR)}`);
  }
  const parsed = parseJson(text);
  const body = parsed.ok ? parsed.value : text;
  return { status: answer.status, body, ...(answer.truncated ? { truncated: true } : {}) };
}
