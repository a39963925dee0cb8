import { expect, it } from 'vitest';
import { vendorSdks, versionTable } from '../../scripts/update-sdk-versions.ts';

it('the vendors’ SDKs are picked from the dev dependencies, and nothing else', () => {
  const picked = vendorSdks({
    '@anthropic-ai/sdk': '^1.0.0',
    '@ai-sdk/openai': '^3.0.0',
    '@biomejs/biome': '^2.0.0',
    '@google/genai': '^2.0.0',
    ai: '^6.0.0',
    ajv: '^8.0.0',
    openai: '^7.0.0',
    vitest: '^5.0.0',
  });
  expect(Object.keys(picked)).toEqual(['@anthropic-ai/sdk', '@ai-sdk/openai', '@google/genai', 'ai', 'openai']);
});

it('the table shows what changed', () => {
  const before = { '@google/genai': '^2.0.0', openai: '^7.0.0' };
  expect(versionTable(before, { ...before, openai: '^7.1.0' })).toBe(
    '@google/genai  ^2.0.0  is the latest\nopenai         ^7.0.0  → ^7.1.0',
  );
});
