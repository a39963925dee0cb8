import { describe, expect, it } from 'vitest';
import { AbpError } from '../contract/errors.ts';
import type { CapabilityManifest, CapabilityRequirements, Compatibility } from '../contract/support.ts';
import { assertMet, isCompatible, negotiate, type Requirements, total, unmet } from './negotiate.ts';

describe('unmet: the examples of the capability matrix', () => {
  it('Example 1: is satisfied when every level is high enough', () => {
    const manifest: CapabilityManifest = { streaming: 'native', tool_read: 'emulated' };
    const requirements: CapabilityRequirements = {
      required: [
        { capability: 'streaming', min_support: 'native' },
        { capability: 'tool_read', min_support: 'emulated' },
      ],
    };
    expect(unmet(manifest, requirements)).toEqual([]);
  });

  it('Example 2: is not satisfied when a level is too low', () => {
    expect(unmet({ streaming: 'emulated' }, { required: [{ capability: 'streaming', min_support: 'native' }] })).toEqual([
      { capability: 'streaming', min_support: 'native', level: 'emulated' },
    ]);
  });

  it('Example 3: is not satisfied when a capability is missing', () => {
    const requirements: CapabilityRequirements = {
      required: [
        { capability: 'streaming', min_support: 'native' },
        { capability: 'mcp_client', min_support: 'emulated' },
      ],
    };
    expect(unmet({ streaming: 'native' }, requirements)).toEqual([{ capability: 'mcp_client', min_support: 'emulated', level: null }]);
  });

  it('Example 4: restricted satisfies emulated', () => {
    const manifest: CapabilityManifest = { tool_bash: { restricted: { reason: 'sandbox only' } } };
    expect(unmet(manifest, { required: [{ capability: 'tool_bash', min_support: 'emulated' }] })).toEqual([]);
    expect(unmet(manifest, { required: [{ capability: 'tool_bash', min_support: 'native' }] })).toEqual([
      { capability: 'tool_bash', min_support: 'native', level: { restricted: { reason: 'sandbox only' } } },
    ]);
  });

  it('a work order without requirements is satisfied by an empty manifest', () => {
    expect(unmet({}, { required: [] })).toEqual([]);
  });

  it('a capability advertised as unsupported keeps that level, one not advertised has none', () => {
    const requirements: CapabilityRequirements = {
      required: [
        { capability: 'tool_glob', min_support: 'emulated' },
        { capability: 'tool_grep', min_support: 'emulated' },
      ],
    };
    expect(unmet({ tool_glob: 'unsupported' }, requirements)).toEqual([
      { capability: 'tool_glob', min_support: 'emulated', level: 'unsupported' },
      { capability: 'tool_grep', min_support: 'emulated', level: null },
    ]);
  });

  it('the minimum `any` of a foreign work order is always met', () => {
    expect(unmet({}, { required: [{ capability: 'streaming', min_support: 'any' }] })).toEqual([]);
  });
});

describe('negotiate', () => {
  it('runs the example of the negotiation flow', () => {
    const manifest: CapabilityManifest = { streaming: 'native', tool_read: 'emulated', tool_bash: { restricted: { reason: 'policy' } } };
    const result = negotiate(manifest, {
      required: [
        { capability: 'streaming', min_support: 'native' },
        { capability: 'tool_read', min_support: 'emulated' },
        { capability: 'tool_edit', min_support: 'emulated' },
      ],
    });
    expect(result).toEqual({ native: ['streaming'], emulatable: ['tool_read'], unsupported: ['tool_edit'] });
    expect(isCompatible(result)).toBe(false);
    expect(total(result)).toBe(3);
  });

  it('writes the JSON example of a NegotiationResult', () => {
    const result = negotiate(
      { streaming: 'native', tool_read: 'native', tool_write: 'emulated' },
      {
        required: [
          { capability: 'streaming', min_support: 'native' },
          { capability: 'tool_read', min_support: 'native' },
          { capability: 'tool_write', min_support: 'emulated' },
        ],
      },
    );
    expect(JSON.stringify(result)).toBe('{"native":["streaming","tool_read"],"emulatable":["tool_write"],"unsupported":[]}');
    expect(isCompatible(result)).toBe(true);
  });

  it('puts each kind of manifest entry into its bucket', () => {
    const manifest: CapabilityManifest = {
      tool_read: 'native',
      tool_write: 'emulated',
      tool_edit: { restricted: { reason: 'read-only workspace' } },
      tool_bash: 'unsupported',
    };
    const required = (['tool_read', 'tool_write', 'tool_edit', 'tool_bash', 'tool_glob'] as const).map((capability) => ({
      capability,
      min_support: 'emulated' as const,
    }));
    expect(negotiate(manifest, { required })).toEqual({
      native: ['tool_read'],
      emulatable: ['tool_write', 'tool_edit'],
      unsupported: ['tool_bash', 'tool_glob'],
    });
  });

  it('ignores the minimum: an emulated level is emulatable although native is required', () => {
    const requirements: CapabilityRequirements = { required: [{ capability: 'streaming', min_support: 'native' }] };
    expect(negotiate({ streaming: 'emulated' }, requirements)).toEqual({ native: [], emulatable: ['streaming'], unsupported: [] });
  });
});

describe('assertMet', () => {
  function refusal(manifest: CapabilityManifest, requirements: Requirements, compatibility: Compatibility): AbpError | undefined {
    try {
      assertMet({ manifest, requirements, compatibility, backend: 'engine:gemini' });
      return undefined;
    } catch (error) {
      if (AbpError.is(error)) return error;
      throw error;
    }
  }

  const emulatedWeb: Requirements = { required: [{ capability: 'tool_web_search', min_support: 'emulated' }] };
  const nativeWeb: Requirements = { required: [{ capability: 'tool_web_search', min_support: 'native' }] };

  it('best_effort accepts an emulated level that is enough', () => {
    expect(refusal({ tool_web_search: 'emulated' }, emulatedWeb, 'best_effort')).toBeUndefined();
  });

  it('strict refuses the same level with cause REQUIRES_NATIVE', () => {
    const error = refusal({ tool_web_search: 'emulated' }, emulatedWeb, 'strict');
    expect(error?.code).toBe('E006');
    expect(error?.message).toBe('engine:gemini offers tool_web_search as emulated, required is native');
    expect(error?.details).toEqual({
      capability: 'tool_web_search',
      support_level: 'emulated',
      min_support: 'native',
      backend: 'engine:gemini',
      cause: 'REQUIRES_NATIVE',
    });
  });

  it('strict refuses a restricted level and keeps its reason', () => {
    const error = refusal({ tool_web_search: { restricted: { reason: 'offline' } } }, emulatedWeb, 'strict');
    expect(error?.details.cause).toBe('REQUIRES_NATIVE');
    expect(error?.details.support_level).toEqual({ restricted: { reason: 'offline' } });
  });

  it('best_effort refuses a level below the required one', () => {
    expect(refusal({ tool_web_search: 'emulated' }, nativeWeb, 'best_effort')?.details.cause).toBe('REQUIRES_NATIVE');
  });

  it.each(['strict', 'best_effort'] as const)('%s refuses a missing capability with cause CAPABILITY_UNSUPPORTED', (compatibility) => {
    expect(refusal({}, emulatedWeb, compatibility)?.details).toMatchObject({
      support_level: 'unsupported',
      cause: 'CAPABILITY_UNSUPPORTED',
    });
    expect(refusal({ tool_web_search: 'unsupported' }, emulatedWeb, compatibility)?.details.cause).toBe('CAPABILITY_UNSUPPORTED');
  });

  it('names the first requirement in the way', () => {
    const requirements: Requirements = {
      required: [
        { capability: 'streaming', min_support: 'native' },
        { capability: 'vision', min_support: 'native' },
        { capability: 'audio', min_support: 'native' },
      ],
    };
    expect(refusal({ streaming: 'native' }, requirements, 'best_effort')?.details.capability).toBe('vision');
  });

  it.each(['strict', 'best_effort'] as const)('%s lets `any` pass', (compatibility) => {
    expect(refusal({}, { required: [{ capability: 'audio', min_support: 'any' }] }, compatibility)).toBeUndefined();
  });
});
