import type { IncomingMessage, ServerResponse } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { parseJson } from '../../base/json.ts';
import { jsonExcess } from '../../base/json-limits.ts';
import { parseAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import { authorize } from '../auth/access.ts';
import type { Gateway } from '../gateway.ts';
import { Reply } from '../reply.ts';
import type { Route } from '../route.ts';
import { allowHeader, asAbpError, leave, renderError } from './errors.ts';
import type { Admitted, ControlHandler } from './front-door.ts';

const MIB = 1024 * 1024;
/** Schemas of tools are the deepest that anybody sends here, and receipts the longest. */
const CONTROL_JSON = { depth: 100, values: 50_000 };
const admittedBy = new WeakMap<IncomingMessage, Admitted>();

/** The control plane: routes as data on Fastify. It never sees a request that the front door has not admitted. */
export async function controlPlane(gateway: Gateway, routes: readonly Route[]): Promise<{ app: FastifyInstance; handler: ControlHandler }> {
  let serve: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
  const app = Fastify({
    bodyLimit: gateway.config.limits.control_body_mb * MIB,
    frameworkErrors: (error, request, reply) => failed(gateway, error, request, reply),
    // Fastify insists on a server of its own; requests reach it from the front door, so this one never listens.
    serverFactory: (handler) => {
      serve = handler;
      return new UnboundServer() as never; // only used by listen(), which is never called
    },
    schemaController: { compilersFactory: NO_COMPILERS },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
    const excess = jsonExcess(String(text), CONTROL_JSON);
    if (excess !== undefined) {
      done(new AbpError('payload_too_large', `The request body is more than a control path takes: ${excess}.`));
      return;
    }
    const parsed = parseJson(String(text));
    if (parsed.ok) done(null, parsed.value);
    else done(new AbpError('invalid_request', `The request body is not valid JSON: ${parsed.message}.`));
  });
  // Browsers ask before they send this type to another site, as they do for JSON.
  app.addContentTypeParser('text/markdown', { parseAs: 'string' }, (request, text, done) => {
    if (!takesMarkdown(request)) done(new AbpError('unsupported_media_type', 'This path takes application/json.'));
    else done(null, { markdown: String(text) });
  });
  app.setErrorHandler((error, request, reply) => failed(gateway, error, request, reply));
  app.setNotFoundHandler((request, reply) => failed(gateway, unknownPath(routes, request), request, reply));
  for (const route of routes) mount(app, gateway, route);
  await app.ready();
  return {
    app,
    handler: (request, response, admitted) => {
      admittedBy.set(request, admitted);
      serve(request, response);
    },
  };
}

/** Routes check their own input and write their own JSON. Fastify's compilers for both would be a third of all that serving loads. */
const NO_COMPILERS = { buildValidator: noCompiler, buildSerializer: noCompiler };

function noCompiler(): () => never {
  return () => {
    throw new AbpError('internal', 'a route has a schema of Fastify, which nothing here compiles');
  };
}

class UnboundServer {
  on(): this {
    return this;
  }
  once(): this {
    return this;
  }
  setTimeout(): this {
    return this;
  }
}

function mount(app: FastifyInstance, gateway: Gateway, route: Route): void {
  app.route({
    method: route.method,
    config: { markdown: route.takesMarkdown === true },
    url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    handler: async (request, reply) => {
      const { principal, runId } = admittedOf(request);
      reply.header('X-ABP-Run-Id', runId);
      authorize(principal, route.need);
      const result = await route.handle({
        gateway,
        principal,
        runId,
        headers: request.headers,
        params: route.params === undefined ? {} : parseAt(route.params, request.params, 'path'),
        query: route.query === undefined ? {} : parseAt(route.query, request.query, 'query'),
        body: route.body === undefined ? {} : parseAt(route.body, request.body ?? {}, 'request body'),
      });
      if (!(result instanceof Reply)) return await reply.send(result);
      return await reply.code(result.status).headers(result.headers).send(result.body);
    },
  });
}

function takesMarkdown(request: FastifyRequest): boolean {
  const { config } = request.routeOptions;
  return 'markdown' in config && config.markdown === true;
}

function admittedOf(request: FastifyRequest): Admitted {
  const admitted = admittedBy.get(request.raw);
  if (admitted === undefined) throw new AbpError('internal', 'a request came past the front door');
  return admitted;
}

function failed(gateway: Gateway, thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = fastifyError(thrown);
  const { runId } = admittedOf(request);
  if (error.code === 'internal') gateway.log.error({ error: thrown, run: runId }, 'a control request failed');
  const { status, contentType, body } = renderError(error, { runId, url: gateway.url, path: request.url });
  if (!request.raw.complete) {
    reply.header('connection', 'close');
    leave(reply.raw);
  }
  return reply
    .code(status)
    .header('X-ABP-Run-Id', runId)
    .header('X-Should-Retry', String(error.row.retryable))
    .headers(Object.fromEntries([allowHeader(error)].filter((pair) => pair.length > 0)))
    .header('content-type', contentType)
    .send(body);
}

/** Fastify's own refusals in the words of our table. */
function fastifyError(thrown: unknown): AbpError {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new AbpError('payload_too_large', 'The body is larger than a control path takes.');
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new AbpError('unsupported_media_type', 'This path takes application/json.');
  if (code === 'FST_ERR_BAD_URL') return new AbpError('invalid_request', 'The path holds a broken escape.');
  if (code.startsWith('FST_ERR_CTP')) return new AbpError('invalid_request', thrown instanceof Error ? thrown.message : code);
  return asAbpError(thrown);
}

function unknownPath(routes: readonly Route[], request: FastifyRequest): AbpError {
  const [path = ''] = request.url.split('?');
  const methods = routes
    .filter((route) => new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
    .map((route) => route.method);
  if (methods.length > 0) {
    const allow = methods.join(', ');
    return new AbpError('method_not_allowed', `${request.method} is not a method of ${path}; use ${allow}.`, { allow });
  }
  return new AbpError('not_found', `There is no path ${path}.`);
}
