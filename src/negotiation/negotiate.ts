import { capabilityMissing } from '../contract/errors.ts';
import type { NegotiationResult, Unmet } from '../contract/negotiation.ts';
import type {
  CapabilityManifest,
  CapabilityRequirement,
  Compatibility,
  ForeignMinSupport,
  MinSupport,
  SupportLevel,
} from '../contract/support.ts';
import { satisfies } from './check.ts';

/** A requirement of the contract whose minimum may also be a foreign work order's `any`. */
type Requirement = Readonly<Omit<CapabilityRequirement, 'min_support'> & Record<'min_support', ForeignMinSupport>>;

/** A caller's needs; the contract's `CapabilityRequirements` is one. */
export interface Requirements {
  readonly required: readonly Requirement[];
}

/** Sorts every requirement into native, emulatable or unsupported. The least level a requirement asks for plays no part. */
export function negotiate(manifest: CapabilityManifest, requirements: Requirements): NegotiationResult {
  const result: NegotiationResult = { native: [], emulatable: [], unsupported: [] };
  for (const { capability } of requirements.required) {
    const level = manifest[capability];
    if (level === 'native') result.native.push(capability);
    else if (level === undefined || level === 'unsupported') result.unsupported.push(capability);
    else result.emulatable.push(capability);
  }
  return result;
}

/** Compatible means that nothing is unsupported. */
export function isCompatible(result: NegotiationResult): boolean {
  return result.unsupported.length === 0;
}

/** How many requirements the result classifies. */
export function total(result: NegotiationResult): number {
  return result.native.length + result.emulatable.length + result.unsupported.length;
}

/** Every requirement whose level is too low, missing ones included, in the order of the requirements. */
export function unmet(manifest: CapabilityManifest, requirements: Requirements, compatibility: Compatibility = 'best_effort'): Unmet[] {
  const found: Unmet[] = [];
  for (const { capability, min_support } of requirements.required) {
    const level = manifest[capability] ?? null;
    const least = leastLevel(min_support, compatibility);
    if (tooLow(level, least)) found.push({ capability, min_support: least, level });
  }
  return found;
}

/** The level that a requirement asks for: strict wants it native, unless a foreign order says that anything will do. */
function leastLevel(min: ForeignMinSupport, compatibility: Compatibility): ForeignMinSupport {
  return compatibility === 'strict' && min !== 'any' ? 'native' : min;
}

/** `any` is met by everything, absence too, so whatever is too low has a level of our own contract as its minimum. */
function tooLow(level: SupportLevel | null, min: ForeignMinSupport): min is MinSupport {
  return min !== 'any' && (level === null || !satisfies(level, min));
}

/** A dispatch about to happen: who asks for what, of whom, and how strictly. */
export interface Demand {
  readonly manifest: CapabilityManifest;
  readonly requirements: Requirements;
  readonly compatibility: Compatibility;
  /** Name of the backend in the error message. */
  readonly backend: string;
}

/**
 * Throws E006 for the first requirement that stands in the way of dispatch. `strict` wants every required capability native
 * whatever its requirement says; `best_effort` wants each requirement met as it is written.
 */
export function assertMet({ manifest, requirements, compatibility, backend }: Demand): void {
  const [first] = unmet(manifest, requirements, compatibility);
  if (first === undefined) return;
  const { capability, level, min_support: minSupport } = first;
  throw capabilityMissing({ capability, level, minSupport, backend });
}
