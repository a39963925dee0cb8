import { z } from 'zod';
import { Capability } from '../../contract/capability.ts';
import { ErrorBody } from '../../contract/error-body.ts';
import { JsonValue } from '../../contract/json-value.ts';
import { FidelityEntry } from '../../contract/negotiation.ts';
import { ReceiptNegotiation } from '../../contract/receipts/receipt.ts';
import { Compatibility, Mode } from '../../contract/support.ts';

export const ExplainRequest = z.strictObject({
  from: z.string().describe('The dialect the request is written in.'),
  to: z.string().describe('The engine, or engine:dialect where it serves several.'),
  model: z.string().max(512).optional().describe('The model the engine gets; default: the one in the request.'),
  compatibility: Compatibility.optional(),
  emulate: z.array(Capability).optional().describe('Capabilities that may be approximated.'),
  request: JsonValue.describe('The body as the SDK would send it.'),
});

export const ExplainResponse = z.strictObject({
  mode: Mode,
  negotiation: ReceiptNegotiation.nullable(),
  fidelity: z.array(FidelityEntry),
  upstream: z
    .strictObject({ method: z.string(), path: z.string(), body: JsonValue })
    .nullable()
    .describe('What the engine would get; null when it would get nothing.'),
  error: ErrorBody.shape.error.optional().describe('Why the request would be refused.'),
});
