import { z } from 'zod';
import { CompatibilityReport, NegotiationResult, Unmet } from '../../contract/negotiation.ts';
import { CapabilityManifest, CapabilityRequirements } from '../../contract/support.ts';

export const NegotiateRequest = z
  .strictObject({
    manifest: CapabilityManifest.optional().describe('A manifest to negotiate against.'),
    backend: z.string().optional().describe('Or the id of a backend, e.g. engine:claude.'),
    requirements: CapabilityRequirements,
  })
  .refine((body) => (body.manifest === undefined) !== (body.backend === undefined), { error: 'give either manifest or backend' });

export const NegotiateResponse = z.strictObject({ result: NegotiationResult, report: CompatibilityReport, unmet: z.array(Unmet) });
