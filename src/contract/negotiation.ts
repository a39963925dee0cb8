import { z } from 'zod';
import { Capability } from './capability.ts';
import { FATES } from './fate-codes.ts';
import { MinSupport, SupportLevel } from './support.ts';

/** Where each required capability landed; the order inside a bucket is the order of the requirements. */
export const NegotiationResult = z.strictObject({
  native: z.array(Capability).describe('Provided by the backend itself.'),
  emulatable: z.array(Capability).describe('Provided by translation or with a restriction.'),
  unsupported: z.array(Capability).describe('Not provided, or not mentioned by the manifest.'),
});
export type NegotiationResult = z.infer<typeof NegotiationResult>;

/** The conclusion of negotiation for one requirement. */
export const Outcome = z.discriminatedUnion('level', [
  z.strictObject({ level: z.literal('native').describe('The backend provides it itself.') }),
  z.strictObject({
    level: z.literal('emulated').describe('It is provided by other means.'),
    strategy: z.string().describe('By what means.'),
  }),
  z.strictObject({ level: z.literal('unsupported').describe('It is not provided.') }),
]);
export type Outcome = z.infer<typeof Outcome>;

/** The result in words and counts. Details pair the variant name with its outcome. */
export const CompatibilityReport = z.strictObject({
  compatible: z.boolean().describe('Whether nothing is unsupported.'),
  native_count: z.int().nonnegative().describe('How many are native.'),
  emulated_count: z.int().nonnegative().describe('How many are emulatable.'),
  unsupported_count: z.int().nonnegative().describe('How many are unsupported.'),
  summary: z.string().describe('The counts and the conclusion in one sentence.'),
  details: z.array(z.tuple([z.string(), Outcome])).describe('Pairs of variant name and outcome: native, emulatable, unsupported.'),
});
export type CompatibilityReport = z.infer<typeof CompatibilityReport>;

/** A requirement whose level is too low; `level` is null when the manifest does not mention the capability. */
export const Unmet = z.strictObject({
  capability: Capability.describe('The capability that was required.'),
  min_support: MinSupport.describe('The level that was required.'),
  level: SupportLevel.nullable().describe('The level that the manifest offers.'),
});
export type Unmet = z.infer<typeof Unmet>;

/** How a missing capability is approximated. */
export const EmulationStrategy = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('system_prompt_injection').describe('The system prompt asks for it.'),
    prompt: z.string().describe('The text that is added.'),
  }),
  z.strictObject({
    type: z.literal('post_processing').describe('The request or the answer is worked on.'),
    detail: z.string().describe('How.'),
  }),
  z.strictObject({ type: z.literal('disabled').describe('It is not approximated.'), reason: z.string().describe('Why not.') }),
]);
export type EmulationStrategy = z.infer<typeof EmulationStrategy>;

/** Approximated too, though no capability of the contract: what a backend offers says nothing about them. */
export const EMULATED_BESIDES = ['token_counting', 'end_user', 'service_tier', 'attachments', 'workspace'] as const;

export const EmulationEntry = z.strictObject({
  capability: z.union([Capability, z.enum(EMULATED_BESIDES)]).describe('What is approximated.'),
  strategy: EmulationStrategy.describe('How.'),
});
export type EmulationEntry = z.infer<typeof EmulationEntry>;

/** Every emulation that was applied and every one that could not be. */
export const EmulationReport = z.strictObject({
  applied: z.array(EmulationEntry).describe('What was approximated.'),
  warnings: z.array(z.string()).describe('What could not be, one sentence each.'),
});
export type EmulationReport = z.infer<typeof EmulationReport>;

/** The fate of one field of a mapped request or answer. */
export const Fate = z.enum(FATES);
export type Fate = z.infer<typeof Fate>;

/** One line of a fidelity record; exact leaves of the same shape share a line and a count. */
export const FidelityEntry = z.strictObject({
  path: z.string().describe('Where the field is in the body of the caller; [*] stands for every index.'),
  fate: Fate.describe('What happened to it.'),
  note: z.string().optional().describe('How or why.'),
  code: z.string().optional().describe('The reason as a code, where there is one; the note says it in words.'),
  to: z.array(z.string()).optional().describe('Where it went: JSON pointers in the body that was made of it, or `path`, or `header`.'),
  count: z.int().positive().optional().describe('How many leaves of this shape there were.'),
});
export type FidelityEntry = z.infer<typeof FidelityEntry>;

/** The most that a call would take, told before it is made. */
export const CallEstimate = z.strictObject({
  input_tokens: z.int().nonnegative().describe('What the model would read; estimated.'),
  max_output_tokens: z.int().nonnegative().nullable().describe('The limit that the request sets; null where it sets none.'),
  max_cost_nano_usd: z
    .int()
    .nonnegative()
    .nullable()
    .describe('At list prices, if all of the limit is used, in billionths of a dollar; null without a limit or a price.'),
});
export type CallEstimate = z.infer<typeof CallEstimate>;
