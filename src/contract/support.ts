import { z } from 'zod';
import { Capability, UNKNOWN_CAPABILITY } from './capability.ts';

/** How well a backend supports a capability. */
export const SupportLevel = z
  .union([
    z.enum(['native', 'emulated', 'unsupported']),
    z.strictObject({ restricted: z.strictObject({ reason: z.string().describe('What limits it.') }).describe('Supported, but limited.') }),
  ])
  .meta({ id: 'SupportLevel', description: 'How well a backend supports a capability.' });
export type SupportLevel = z.infer<typeof SupportLevel>;

/** The least a caller accepts. */
export const MinSupport = z.enum(['native', 'emulated']);
export type MinSupport = z.infer<typeof MinSupport>;

/** Foreign work orders may also say `any`, which every level meets. */
export const ForeignMinSupport = z.enum(['native', 'emulated', 'any']);
export type ForeignMinSupport = z.infer<typeof ForeignMinSupport>;

/** The capabilities that a backend advertises. A capability it does not mention is not supported. */
export const CapabilityManifest = z.partialRecord(Capability, SupportLevel, {
  // Whatever is not about the type of the whole is about a key.
  error: (issue) => (issue.code === 'invalid_type' ? undefined : UNKNOWN_CAPABILITY),
});
export type CapabilityManifest = Readonly<z.infer<typeof CapabilityManifest>>;

export const CapabilityRequirement = z.strictObject({
  capability: Capability.describe('The capability that is needed.'),
  min_support: MinSupport.describe('The least level that is accepted.'),
});
export type CapabilityRequirement = z.infer<typeof CapabilityRequirement>;

/** The needs of a caller; every entry must be met. */
export const CapabilityRequirements = z.strictObject({
  required: z.array(CapabilityRequirement).describe('Every entry must be met.'),
});
export type CapabilityRequirements = z.infer<typeof CapabilityRequirements>;

/** How strictly capabilities are matched: `strict` refuses everything that is not native. */
export const Compatibility = z.enum(['strict', 'best_effort']);
export type Compatibility = z.infer<typeof Compatibility>;

/** `passthrough` = the caller's bytes reach the engine unchanged; `mapped` = they were translated, with a fidelity record. */
export const Mode = z.enum(['passthrough', 'mapped']);
export type Mode = z.infer<typeof Mode>;
