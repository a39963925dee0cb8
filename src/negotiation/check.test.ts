import { describe, expect, it } from 'vitest';
import type { CapabilityManifest, CapabilityRequirement } from '../contract/support.ts';
import { workOrder } from '../contract/work-orders/work-order.ts';
import { checkCapability, satisfies } from './check.ts';

const restricted = { restricted: { reason: 'sandbox only' } };

describe('satisfies', () => {
  it.each([
    ['native', 'native', true],
    ['native', 'emulated', true],
    ['native', 'any', true],
    ['emulated', 'native', false],
    ['emulated', 'emulated', true],
    ['emulated', 'any', true],
    [restricted, 'native', false],
    [restricted, 'emulated', true],
    [restricted, 'any', true],
    ['unsupported', 'native', false],
    ['unsupported', 'emulated', false],
    ['unsupported', 'any', true],
  ] as const)('holds the threshold table: level %j for min_support %s is %s', (level, min, expected) => {
    expect(satisfies(level, min)).toBe(expected);
  });

  it('runs the API example of the capability matrix: check one requirement, then put it into a work order', () => {
    const manifest: CapabilityManifest = { streaming: 'native', tool_read: 'emulated' };
    const requirement: CapabilityRequirement = { capability: 'streaming', min_support: 'native' };
    const level = manifest[requirement.capability];
    expect(level).toBe('native');
    expect(satisfies(level ?? 'unsupported', requirement.min_support)).toBe(true);
    const order = workOrder('task')
      .requirements({ required: [requirement] })
      .build();
    expect(order.requirements).toEqual({ required: [{ capability: 'streaming', min_support: 'native' }] });
  });
});

describe('checkCapability', () => {
  const manifest: CapabilityManifest = {
    streaming: 'native',
    tool_read: 'emulated',
    tool_bash: { restricted: { reason: 'sandbox only' } },
    tool_glob: 'unsupported',
  };

  it.each([
    ['streaming', { level: 'native' }],
    ['tool_read', { level: 'emulated', strategy: 'adapter' }],
    ['tool_bash', { level: 'emulated', strategy: 'restricted: sandbox only' }],
    ['tool_glob', { level: 'unsupported' }],
    ['tool_edit', { level: 'unsupported' }],
  ] as const)('classifies %s as %j', (capability, outcome) => {
    expect(checkCapability(manifest, capability)).toEqual(outcome);
  });
});
