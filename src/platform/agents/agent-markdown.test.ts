import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Agent } from './agent.ts';
import { agentFromMarkdown, agentToMarkdown } from './agent-markdown.ts';
import type { AgentInput } from './agents.ts';

const plain: AgentInput = {
  name: 'Ada',
  description: null,
  model: null,
  tags: [],
  maxIterations: null,
  maxCostNanoUsd: null,
  conflicts: 'error',
  capabilities: [],
  systemPrompt: '',
};

function stored({ capabilities: _, ...input }: AgentInput): Agent {
  return { ...input, settings: {}, id: 'agent_1', keyId: null, status: 'active', revision: 1, createdAt: 0, updatedAt: 0 };
}

describe('agents as Markdown', () => {
  it('are a few lines for people', async () => {
    const agent: AgentInput = {
      ...plain,
      description: 'counts: exactly',
      model: 'claude/claude-sonnet-4-5',
      tags: ['a', 'b'],
      maxIterations: 20,
      maxCostNanoUsd: 500_000_000,
      conflicts: 'prefix',
      capabilities: [{ id: 'test_math' }, { id: 'sandbox', version: '^1.0.0', config: { timeout_ms: 1000 } }],
      systemPrompt: 'You are Ada.\n\nBe exact.',
    };
    const markdown = await agentToMarkdown(stored(agent), agent.capabilities);
    expect(markdown).toBe(`---
name: Ada
description: "counts: exactly"
model: claude/claude-sonnet-4-5
tags:
  - a
  - b
max_iterations: 20
max_cost_usd: 0.5
conflicts: prefix
capabilities:
  - test_math
  - id: sandbox
    version: ^1.0.0
    config:
      timeout_ms: 1000
---

You are Ada.

Be exact.
`);
    expect(await agentFromMarkdown(markdown)).toEqual(agent);
  });

  it('come back as they were, whatever they hold', async () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('---', 'a: b', '# x', "'", '"', 'null', 'true', '1e3', '- x', '{{a}}', '\t', ' lead', 'é😀'),
    );
    const agents = fc.record({
      name: text.filter((name) => name !== ''),
      description: fc.option(text),
      systemPrompt: fc.array(fc.oneof(text, fc.constant('\r'))).map((lines) => lines.join('\n')),
      tags: fc.array(
        text.filter((tag) => tag !== ''),
        { maxLength: 3 },
      ),
      maxIterations: fc.option(fc.integer({ min: 1, max: 1000 })),
      capabilities: fc.array(fc.record({ id: text, config: fc.dictionary(fc.string(), text) }), { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(agents, async (some) => {
        const agent: AgentInput = { ...plain, ...some };
        expect(await agentFromMarkdown(await agentToMarkdown(stored(agent), agent.capabilities))).toEqual(agent);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['no front matter', 'You are Ada.', /must begin with front matter/],
    ['no name', '---\nmodel: a/b\n---\n', /name: is required/],
    ['an unknown field', '---\nname: a\ncolour: red\n---\n', /colour/],
    ['broken YAML', '---\nname: [a\n---\n', /not valid YAML/],
    ['aliases', '---\nname: &a x\ndescription: *a\n---\n', /cannot be read|not valid YAML/],
    ['a budget of nothing', '---\nname: a\nmax_cost_usd: 1.0e-12\n---\n', /max_cost_usd/],
    ['a value of the wrong type', '---\nname: 5\n---\n', /name/],
  ])('are refused with %s', async (_, markdown, words) => {
    await expect(agentFromMarkdown(markdown)).rejects.toThrow(words);
  });

  it('may be written on Windows', async () => {
    expect(await agentFromMarkdown('\uFEFF---\r\nname: Ada\r\n---\r\n\r\nHi.\r\n')).toEqual({ ...plain, systemPrompt: 'Hi.' });
  });
});
