import type { z } from 'zod';
import { errorBody } from '../../contract/errors.ts';
import { requestIdOf } from '../../contract/run-id.ts';
import { findDialect } from '../../dialects/index.ts';
import { matchPath } from '../../dialects/paths.ts';
import type { ExplainInput, Explanation } from '../../mapping/explain.ts';
import { ExplainRequest, ExplainResponse } from '../api/explain.ts';
import { shareOf } from '../auth/principal.ts';
import { defineRoute, type RouteInput } from '../route.ts';
import { callOptions } from '../vendor/options.ts';

type Input = RouteInput<undefined, undefined, typeof ExplainRequest>;

export const explainRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/explain',
    summary:
      'What would happen to a request on an engine, or on several: mode, negotiation, every field’s fate, what it would cost at most and the exact upstream request. Nobody is called.',
    need: { kind: 'read' },
    body: ExplainRequest,
    response: ExplainResponse,
    handle: async (input) => {
      const { to } = input.body;
      const { large } = input.gateway.calls;
      const explained = async (one: string | undefined): Promise<object> =>
        told(input, await large.explain(wanted(input, one), shareOf(input.principal)));
      return Array.isArray(to) ? { results: await Promise.all(to.map(explained)) } : await explained(to);
    },
  }),
];

/** The call as the vendor path would read it: what stands beside the request here wins over its headers. */
function wanted({ body, principal, gateway }: Input, to: string | undefined): ExplainInput {
  const headers = Object.fromEntries(Object.entries(body.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const options = callOptions(headers, principal);
  return {
    from: body.from,
    path: body.path,
    to: to ?? options.engine,
    model: body.model ?? options.model,
    stream: body.stream,
    compatibility: body.compatibility ?? options.compatibility,
    emulate: [...(body.emulate ?? []), ...options.emulate],
    requirements: body.requirements ?? options.requirements,
    features: featuresIn(body, headers),
    table: gateway.config.routes,
    request: body.request,
  };
}

function featuresIn({ from, path }: z.output<typeof ExplainRequest>, headers: Readonly<Record<string, string>>): Record<string, string> {
  const dialect = path === undefined ? findDialect(from ?? '') : matchPath('POST', path.replace(/\?.*$/s, ''))?.dialect;
  return Object.fromEntries(
    (dialect?.featureHeaders ?? []).flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
}

function told({ gateway, runId }: Input, { error, ...explanation }: Explanation): object {
  if (error === undefined) return explanation;
  const context = { requestId: requestIdOf(runId), timestamp: new Date().toISOString(), documentationBase: gateway.url };
  return { ...explanation, error: errorBody(error, context).error };
}
