import { z } from 'zod';
import { ReceiptNegotiation } from '../../contract/receipts/parts.ts';
import { CapabilityManifest, CapabilityRequirements, Compatibility } from '../../contract/support.ts';

export const NegotiateRequest = z
  .strictObject({
    manifest: CapabilityManifest.optional().describe('A manifest to negotiate against.'),
    backend: z.string().optional().describe('Or the id of a backend, e.g. engine:claude.'),
    requirements: CapabilityRequirements,
    compatibility: Compatibility.optional().describe('strict wants every required capability native; default best_effort.'),
  })
  .refine((body) => (body.manifest === undefined) !== (body.backend === undefined), { error: 'give either manifest or backend' });

/** The answer is what a receipt holds of a negotiation. */
export const NegotiateResponse = ReceiptNegotiation;
