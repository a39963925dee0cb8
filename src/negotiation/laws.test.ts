import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CAPABILITIES } from '../contract/capability.ts';
import { AbpError } from '../contract/errors.ts';
import type { NegotiationResult } from '../contract/negotiation.ts';
import type { CapabilityManifest, CapabilityRequirements, Compatibility, SupportLevel } from '../contract/support.ts';
import type { IrConversation } from '../ir/conversation.ts';
import { EmulationEngine } from './emulation.ts';
import { assertMet, isCompatible, negotiate, total, unmet } from './negotiate.ts';
import { generateReport } from './report.ts';

const capability = fc.constantFrom(...CAPABILITIES.map((row) => row.name));
const level: fc.Arbitrary<SupportLevel> = fc.oneof(
  fc.constantFrom('native' as const, 'emulated' as const, 'unsupported' as const),
  fc.record({ restricted: fc.record({ reason: fc.string() }) }),
);
const manifests: fc.Arbitrary<CapabilityManifest> = fc.dictionary(capability, level);
const requirements: fc.Arbitrary<CapabilityRequirements> = fc.record({
  required: fc.array(fc.record({ capability, min_support: fc.constantFrom('native' as const, 'emulated' as const) }), { maxLength: 30 }),
});
/** Requirements with a manifest that advertises many of them, so that compatible pairs are not rare. */
const pairs = requirements.chain((required) =>
  fc.record({
    required: fc.constant(required),
    manifest: fc
      .array(fc.option(level, { nil: undefined, freq: 8 }), { minLength: required.required.length, maxLength: required.required.length })
      .map((levels): CapabilityManifest => {
        const entries = required.required.map((entry, index) => [entry.capability, levels[index]] as const);
        return Object.fromEntries(entries.filter(([, advertised]) => advertised !== undefined));
      }),
  }),
);

const part = fc.record({ kind: fc.constant('text' as const), text: fc.string() });
const message = fc.record({ role: fc.constantFrom('system' as const, 'user' as const, 'assistant' as const), parts: fc.array(part) });
const conversations: fc.Arbitrary<IrConversation> = fc.record({ messages: fc.array(message, { maxLength: 6 }) });

const RANK = { unsupported: 0, restricted: 1, emulated: 1, native: 2 };

function rank(advertised: SupportLevel | undefined): number {
  if (advertised === undefined) return 0;
  return RANK[typeof advertised === 'object' ? 'restricted' : advertised];
}

function sorted(result: NegotiationResult): NegotiationResult {
  return { native: result.native.toSorted(), emulatable: result.emulatable.toSorted(), unsupported: result.unsupported.toSorted() };
}

function isMet(manifest: CapabilityManifest, required: CapabilityRequirements, compatibility: Compatibility): boolean {
  try {
    assertMet({ manifest, requirements: required, compatibility, backend: 'engine:any' });
    return true;
  } catch (error) {
    if (AbpError.is(error) && error.code === 'E006') return false;
    throw error;
  }
}

describe('laws of negotiation', () => {
  it('the buckets, the counts and the details all add up to the requirements', () => {
    fc.assert(
      fc.property(manifests, requirements, (manifest, required) => {
        const result = negotiate(manifest, required);
        const report = generateReport(result, manifest);
        const count = required.required.length;
        expect(total(result)).toBe(count);
        expect(report.native_count + report.emulated_count + report.unsupported_count).toBe(count);
        expect(report.details.length).toBe(count);
        expect(report.compatible).toBe(isCompatible(result));
      }),
    );
  });

  it('the order of the requirements changes only the order inside the buckets', () => {
    const shuffled = requirements.chain((original) =>
      fc.record({
        original: fc.constant(original),
        permuted: fc
          .shuffledSubarray(original.required, { minLength: original.required.length })
          .map((required): CapabilityRequirements => ({ required })),
      }),
    );
    fc.assert(
      fc.property(manifests, shuffled, (manifest, { original, permuted }) => {
        expect(sorted(negotiate(manifest, permuted))).toEqual(sorted(negotiate(manifest, original)));
        expect(unmet(manifest, permuted).length).toBe(unmet(manifest, original).length);
      }),
    );
  });

  it('raising a level never makes a compatible pair incompatible, and never leaves more unmet', () => {
    fc.assert(
      fc.property(pairs, capability, level, ({ manifest, required }, raised, higher) => {
        fc.pre(rank(higher) >= rank(manifest[raised]));
        const better = { ...manifest, [raised]: higher };
        if (isCompatible(negotiate(manifest, required))) expect(isCompatible(negotiate(better, required))).toBe(true);
        expect(unmet(better, required).length).toBeLessThanOrEqual(unmet(manifest, required).length);
      }),
    );
  });

  it('what strict accepts, best_effort accepts', () => {
    fc.assert(
      fc.property(pairs, ({ manifest, required }) => {
        if (isMet(manifest, required, 'strict')) expect(isMet(manifest, required, 'best_effort')).toBe(true);
      }),
    );
  });

  it('best_effort refuses exactly when something is unmet, strict exactly when something is not native', () => {
    fc.assert(
      fc.property(pairs, ({ manifest, required }) => {
        expect(isMet(manifest, required, 'best_effort')).toBe(unmet(manifest, required).length === 0);
        expect(isMet(manifest, required, 'strict')).toBe(negotiate(manifest, required).native.length === required.required.length);
      }),
    );
  });

  it('a pair with nothing unmet is compatible', () => {
    fc.assert(
      fc.property(pairs, ({ manifest, required }) => {
        if (unmet(manifest, required).length === 0) expect(isCompatible(negotiate(manifest, required))).toBe(true);
      }),
    );
  });
});

describe('laws of emulation', () => {
  it('applying twice changes nothing more and reports the same', () => {
    const engine = EmulationEngine.withDefaults();
    fc.assert(
      fc.property(fc.array(capability), conversations, (capabilities, conversation) => {
        const once = engine.apply(['extended_thinking', ...capabilities], conversation);
        const twice = engine.apply(['extended_thinking', ...capabilities], once.conversation);
        expect(twice).toEqual(once);
      }),
    );
  });

  it('every requested capability is either applied or warned about', () => {
    fc.assert(
      fc.property(fc.array(capability), conversations, (capabilities, conversation) => {
        const { report } = EmulationEngine.withDefaults().apply(capabilities, conversation);
        expect(report.applied.length + report.warnings.length).toBe(new Set(capabilities).size);
      }),
    );
  });
});
