import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nearName, slipOf } from './near-name.ts';

const known = ['streaming', 'tool_read', 'tool_web_search', 'structured_output_json_schema', 'vision', 'extended_thinking'];

it.each([
  ['streming', 'streaming'],
  ['tool-read', 'tool_read'],
  ['Tool_Raed', 'tool_read'],
  ['toolread', 'tool_read'],
  ['web_search', 'tool_web_search'],
  ['structured_output', 'structured_output_json_schema'],
  ['thinking', 'extended_thinking'],
  ['visions_and_dreams', 'vision'],
])('reads %s as %s', (name, expected) => {
  expect(nearName(name, known)).toBe(expected);
});

it.each(['', 'x', 'to', 'telepathy', 'v'.repeat(10_000)])('has no suggestion for %j', (name) => {
  expect(nearName(name, known)).toBeUndefined();
});

it.each([
  ['claude-sonet-4-5', 'claude-sonnet-4-5'],
  ['azure_opnai', 'azure-openai'],
  ['LM_Studio', 'lm-studio'],
])('reads %s as %s, whose known names have hyphens', (name, expected) => {
  expect(nearName(name, ['claude-opus-4-5', 'claude-sonnet-4-5', 'azure-openai', 'lm-studio'])).toBe(expected);
});

it('takes for a slip what is at most two edits away, and no part of a name', () => {
  expect(slipOf('claude-sonet-4-5', ['claude-sonnet-4-5'])).toBe('claude-sonnet-4-5');
  expect(slipOf('claude-sonnet', ['claude-sonnet-4-5'])).toBeUndefined();
});

it('finds every known name after one lost letter', () => {
  fc.assert(
    fc.property(fc.constantFrom(...known), fc.nat(), (name, seed) => {
      const at = seed % name.length;
      expect(nearName(name.slice(0, at) + name.slice(at + 1), known)).toBe(name);
    }),
  );
});
