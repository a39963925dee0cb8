import { z } from 'zod';
import { Capability } from '../../contract/capability.ts';
import { ErrorBody } from '../../contract/error-body.ts';
import { JsonValue } from '../../contract/json-value.ts';
import { CallEstimate, EmulationEntry, FidelityEntry } from '../../contract/negotiation.ts';
import { ReceiptNegotiation } from '../../contract/receipts/parts.ts';
import { CapabilityRequirements, Compatibility, Mode } from '../../contract/support.ts';

const To = z.string().max(128);

export const ExplainRequest = z
  .strictObject({
    from: z.string().optional().describe('The dialect the request is written in; or give path.'),
    path: z
      .string()
      .max(2048)
      .optional()
      .describe('The vendor path the request would be sent to; says the dialect, and for Gemini the model and whether to stream.'),
    to: z
      .union([To, z.array(To).min(1).max(32)])
      .optional()
      .describe(
        'The engine, or engine:dialect where it serves several; a list compares them. Default: where the vendor path would send it.',
      ),
    model: z.string().max(512).optional().describe('The model the engine gets; default: the one in the request.'),
    stream: z.boolean().optional().describe('Whether the answer is streamed, where the address says so and not the body (Gemini).'),
    compatibility: Compatibility.optional(),
    emulate: z.array(Capability).optional().describe('Capabilities that may be approximated.'),
    requirements: CapabilityRequirements.optional().describe('What X-ABP-Require would say.'),
    headers: z
      .record(z.string(), z.string())
      .optional()
      .describe('Headers of the call: X-ABP-… and the vendor’s switches of features, e.g. anthropic-beta.'),
    request: JsonValue.describe('The body as the SDK would send it.'),
  })
  .refine(({ from, path }) => (from === undefined) !== (path === undefined), { error: 'give either from or path' });

const Explanation = z.strictObject({
  to: z.string().describe('The engine, with its dialect where it serves several.'),
  mode: Mode,
  negotiation: ReceiptNegotiation.nullable(),
  emulations: z.array(EmulationEntry).describe('What would be approximated, as the receipt names it.'),
  fidelity: z.array(FidelityEntry),
  upstream: z
    .strictObject({ method: z.string(), path: z.string(), body: JsonValue })
    .nullable()
    .describe('What the engine would get; null when it would get nothing.'),
  estimate: CallEstimate.nullable().describe('What the call would take at most; null where the request cannot be read.'),
  error: ErrorBody.shape.error
    .optional()
    .describe(
      'Why the request would be refused, by the rights of the key that asks and by the policy of the operator too. Limits and budgets are not foreseen.',
    ),
});

export const ExplainResponse = z.union([
  Explanation,
  z.strictObject({ results: z.array(Explanation).describe('One for each engine of the list, in its order.') }),
]);
