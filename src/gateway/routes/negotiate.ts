import { negotiationAccount } from '../../negotiation/report.ts';
import { resolveBackend } from '../../runtime/backends.ts';
import { NegotiateRequest, NegotiateResponse } from '../api/negotiate.ts';
import { defineRoute } from '../route.ts';

export const negotiateRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/negotiate',
    summary: 'What a backend, or a manifest you send, makes of requirements.',
    need: { kind: 'read' },
    body: NegotiateRequest,
    response: NegotiateResponse,
    handle: ({ body }) => {
      const manifest = body.manifest ?? resolveBackend(body.backend ?? '').manifest;
      return negotiationAccount(manifest, body.requirements);
    },
  }),
];
