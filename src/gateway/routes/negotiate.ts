import { AbpError } from '../../contract/errors.ts';
import { negotiationAccount } from '../../negotiation/report.ts';
import { NegotiateRequest, NegotiateResponse } from '../api/negotiate.ts';
import { defineRoute } from '../route.ts';
import { findBackend } from '../run-plane/backends.ts';

const MOST_REQUIREMENTS = 1000;

export const negotiateRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/negotiate',
    summary: 'What a backend, or a manifest you send, makes of requirements.',
    body: NegotiateRequest,
    response: NegotiateResponse,
    handle: async ({ gateway, principal, body }) => {
      if (body.requirements.required.length > MOST_REQUIREMENTS) {
        throw new AbpError(
          'invalid_request',
          `There are more than ${MOST_REQUIREMENTS} requirements, which no backend has capabilities for.`,
        );
      }
      const manifest = body.manifest ?? (await findBackend(gateway, principal, body.backend ?? '')).manifest;
      return negotiationAccount(manifest, body.requirements, body.compatibility);
    },
  }),
];
