import { variantName } from '../contract/capability.ts';
import type { CompatibilityReport, NegotiationResult } from '../contract/negotiation.ts';
import type { ReceiptNegotiation } from '../contract/receipts/parts.ts';
import type { CapabilityManifest, Compatibility } from '../contract/support.ts';
import { emulatedOutcome, NATIVE, UNSUPPORTED } from './check.ts';
import { isCompatible, negotiate, type Requirements, unmet } from './negotiate.ts';

/**
 * The result in words and counts. A negotiation result no longer knows why a capability is restricted, so the reason
 * appears only when the manifest is given.
 */
export function generateReport(result: NegotiationResult, manifest?: CapabilityManifest): CompatibilityReport {
  const details: CompatibilityReport['details'] = [];
  for (const capability of result.native) details.push([variantName(capability), NATIVE]);
  for (const capability of result.emulatable) details.push([variantName(capability), emulatedOutcome(manifest?.[capability])]);
  for (const capability of result.unsupported) details.push([variantName(capability), UNSUPPORTED]);
  return {
    compatible: isCompatible(result),
    native_count: result.native.length,
    emulated_count: result.emulatable.length,
    unsupported_count: result.unsupported.length,
    summary: summary(result),
    details,
  };
}

/** A negotiation as callers, receipts and previews show it. `strict` wants every required capability native, whatever its requirement says. */
export function negotiationAccount(
  manifest: CapabilityManifest,
  requirements: Requirements,
  compatibility: Compatibility = 'best_effort',
): ReceiptNegotiation {
  const result = negotiate(manifest, requirements);
  return { result, report: generateReport(result, manifest), unmet: unmet(manifest, requirements, compatibility) };
}

function summary(result: NegotiationResult): string {
  const verdict = isCompatible(result) ? 'fully compatible' : 'incompatible';
  const { native, emulatable, unsupported } = result;
  return `${native.length} native, ${emulatable.length} emulatable, ${unsupported.length} unsupported — ${verdict}`;
}
