import { errorBody } from '../../contract/errors.ts';
import { requestIdOf } from '../../contract/run-id.ts';
import { explain } from '../../mapping/explain.ts';
import { ExplainRequest, ExplainResponse } from '../api/explain.ts';
import { defineRoute } from '../route.ts';

export const explainRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/explain',
    summary:
      'What would happen to a request on an engine: mode, negotiation, every field’s fate and the exact upstream request. Nobody is called.',
    need: { kind: 'read' },
    body: ExplainRequest,
    response: ExplainResponse,
    handle: ({ body, gateway, runId }) => {
      const { error, ...explanation } = explain(body);
      if (error === undefined) return explanation;
      const context = { requestId: requestIdOf(runId), timestamp: new Date().toISOString(), documentationBase: gateway.url };
      return { ...explanation, error: errorBody(error, context).error };
    },
  }),
];
