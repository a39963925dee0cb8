import { parseJson } from '../../base/json.ts';
import type { ExplainedCall } from '../../calls/explained.ts';
import { MOST_VALUES } from '../../calls/large-bodies/large-bodies.ts';
import { parseAt } from '../../contract/border.ts';
import { AbpError, errorBody } from '../../contract/errors.ts';
import { requestIdOf } from '../../contract/run-id.ts';
import { findDialect } from '../../dialects/index.ts';
import { matchPath } from '../../dialects/paths.ts';
import { scanInTurns } from '../../mapping/scan/scan.ts';
import { ExplainRequest, ExplainResponse } from '../api/explain.ts';
import { ownerOf, shareOf } from '../auth/principal.ts';
import { parseTarget } from '../door/target.ts';
import { Reply } from '../reply.ts';
import { defineRoute, type LargeInput, type RouteInput } from '../route.ts';
import { callOptions } from '../vendor/options.ts';

type Input = Pick<RouteInput<undefined, undefined, typeof ExplainRequest>, 'gateway' | 'principal' | 'runId' | 'body'>;

export const explainRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/explain',
    summary:
      'What would happen to a request on an engine, or on several: mode, negotiation, every field’s fate, what it would cost at most and the exact upstream request. Nobody is called.',
    body: ExplainRequest,
    response: ExplainResponse,
    handle: async (input) => {
      const { large } = input.gateway.calls;
      const { request } = input.body;
      return await answered(input, async (call) => {
        const explanation = await large.explain({ ...call, request }, shareOf(input.principal));
        if ('text' in explanation) return explanation;
        const { error, ...told } = explanation;
        return { text: JSON.stringify(told), error };
      });
    },
    handleLarge,
  }),
];

/** A request as large as a vendor path takes: it is cut out of the question, and read on another thread. */
async function handleLarge({ bytes, ...input }: LargeInput): Promise<Reply> {
  const { naming, values } = await scanInTurns(bytes, new Set(['request']));
  const [place] = naming;
  if (place === undefined) throw new AbpError('invalid_request', 'The question holds no request.');
  if (values > MOST_VALUES)
    throw new AbpError('payload_too_large', `The request holds more than ${MOST_VALUES} values, which are too many to translate.`);
  const rest = Buffer.concat([bytes.subarray(0, place.start), Buffer.from('null'), bytes.subarray(place.end)]);
  if (rest.length > input.gateway.config.limits.control_body_mb * 1024 * 1024)
    throw new AbpError('payload_too_large', 'What stands beside the request is more than a control path takes.');
  const parsed = parseJson(rest.toString('utf8'));
  if (!parsed.ok) throw new AbpError('invalid_request', `The request body is not valid JSON: ${parsed.message}.`);
  const body = parseAt(ExplainRequest, parsed.value, 'request body');
  const { large } = input.gateway.calls;
  const request = bytes.subarray(place.start, place.end);
  return await answered({ ...input, body }, (call) => large.explainText(request, call, shareOf(input.principal)));
}

/** One explanation, or one for each engine of the list. They are text already: a large one is not read here again. */
async function answered(
  input: Input,
  explain: (call: ExplainedCall) => Promise<{ readonly text: string; readonly error?: AbpError | undefined }>,
): Promise<Reply> {
  const { to } = input.body;
  const one = async (engine: string | undefined): Promise<string> => {
    const { text, error } = await explain(wanted(input, engine));
    return error === undefined ? text : `${text.slice(0, -1)},"error":${JSON.stringify(errorOf(input, error))}}`;
  };
  const text = Array.isArray(to) ? `{"results":[${(await Promise.all(to.map(one))).join(',')}]}` : await one(to);
  return new Reply(200, text, { 'content-type': 'application/json; charset=utf-8' });
}

/** The call as the vendor path would read it: what stands beside the request here wins over its headers. */
function wanted({ body, principal, gateway }: Input, to: string | undefined): ExplainedCall {
  const headers = Object.fromEntries(Object.entries(body.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const options = callOptions(headers, principal, gateway.calls.toolRules);
  const target = body.path === undefined ? undefined : parseTarget(body.path);
  return {
    from: body.from,
    path: target?.path,
    to: to ?? target?.engine ?? options.engine,
    model: body.model ?? options.model,
    stream: body.stream,
    compatibility: body.compatibility ?? options.compatibility,
    emulate: [...(body.emulate ?? []), ...options.emulate],
    requirements: body.requirements ?? options.requirements,
    features: featuresIn(body.from, target?.path, headers),
    table: gateway.routes.rows,
    // A run may edit what its agent offers.
    toolRules: options.mayEdit ? [] : options.toolRules,
    rights: { owner: ownerOf(principal), denied: gateway.calls.denied },
  };
}

function featuresIn(from: string | undefined, path: string | undefined, headers: Readonly<Record<string, string>>): Record<string, string> {
  const dialect = path === undefined ? findDialect(from ?? '') : matchPath('POST', path)?.dialect;
  return Object.fromEntries(
    (dialect?.featureHeaders ?? []).flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
}

function errorOf({ gateway, runId }: Input, error: AbpError): object {
  const context = { requestId: requestIdOf(runId), timestamp: new Date().toISOString(), documentationBase: gateway.url };
  return errorBody(error, context).error;
}
