import { describe, expect, it } from 'vitest';
import { checkRunOptions } from '../../src/adapters/gates.ts';
import { adapters, findAdapter } from '../../src/adapters/index.ts';
import type { AgentCapabilities, ModelCapabilities } from '../../src/contract/runs/coding-agent.ts';
import { CapabilityError, ValidationError } from '../../src/contract/runs/run-error.ts';
import { parseRunOptions, type RunOptions } from '../../src/contract/runs/run-options.ts';
import { createModelRegistry, type ModelRegistry } from '../../src/models/registry.ts';

const registry = createModelRegistry({ sources: adapters, discover: async () => [] });

interface Case {
  readonly agent: string;
  readonly options: Partial<RunOptions>;
  readonly caps?: Partial<AgentCapabilities>;
  readonly models?: ModelRegistry;
}

function refusal({ agent, options, caps = {}, models = registry }: Case): unknown {
  const adapter = findAdapter(agent)!;
  try {
    checkRunOptions(adapter, { ...adapter.capabilities, ...caps }, models, parseRunOptions({ agent, prompt: 'hi', ...options }));
    return undefined;
  } catch (error) {
    return error;
  }
}

function registryWith(model: Partial<ModelCapabilities>): ModelRegistry {
  const [first] = findAdapter('claude')!.models;
  return createModelRegistry({
    sources: [{ agent: 'claude', models: [{ ...first!, modelId: 'm', ...model }], defaultModelId: null, modelsAsOf: '2026-11-15' }],
    discover: async () => [],
  });
}

describe('section 8.4: the five messages', () => {
  it.each<[string, Case]>([
    ["Agent 'copilot' does not support thinking/reasoning mode", { agent: 'copilot', options: { thinkingEffort: 'low' } }],
    [
      "Model 'openai/gpt-4o' on agent 'opencode' does not support thinking",
      { agent: 'opencode', options: { model: 'openai/gpt-4o', thinkingEffort: 'low' } },
    ],
    [
      "Model 'openai/gpt-4o' on agent 'opencode' does not support thinking",
      { agent: 'opencode', options: { model: 'openai/gpt-4o', thinkingBudgetTokens: 2048 } },
    ],
    [
      "Model 'm' does not support thinking effort level 'max'",
      { agent: 'claude', options: { model: 'm', thinkingEffort: 'max' }, models: registryWith({ thinkingEffortLevels: ['low', 'high'] }) },
    ],
    ["Agent 'codex' does not support numeric thinking budget", { agent: 'codex', options: { thinkingBudgetTokens: 2048 } }],
    [
      "Agent 'codex' does not support numeric thinking budget",
      { agent: 'codex', options: { model: 'gpt-6-sol', thinkingBudgetTokens: 2048 } },
    ],
    [
      "Thinking budget 500 is outside valid range [1024, 63999] for model 'claude-sonnet-4-5'",
      { agent: 'claude', options: { model: 'claude-sonnet-4-5', thinkingBudgetTokens: 500 } },
    ],
  ])('%s', (message, found) => {
    const error = refusal(found);
    expect(error).toBeInstanceOf(CapabilityError);
    expect(error).toMatchObject({ code: 'CAPABILITY_ERROR', message, agent: found.agent, recoverable: false });
  });

  it('the agent is asked before the model', () => {
    expect(refusal({ agent: 'hermes', options: { model: 'openai/gpt-6-sol', thinkingEffort: 'low' } })).toMatchObject({
      message: "Agent 'hermes' does not support thinking/reasoning mode",
      capability: 'thinking',
    });
  });

  it('the bounds of a range belong to it', () => {
    expect(refusal({ agent: 'claude', options: { model: 'claude-sonnet-4-5', thinkingBudgetTokens: 1024 } })).toBeUndefined();
    expect(refusal({ agent: 'claude', options: { model: 'claude-sonnet-4-5', thinkingBudgetTokens: 63999 } })).toBeUndefined();
    expect(refusal({ agent: 'claude', options: { model: 'claude-sonnet-4-5', thinkingBudgetTokens: 64000 } })).toBeDefined();
  });

  it('a model that takes budgets has them whatever the agent says of itself', () => {
    const models = registryWith({ thinkingBudgetRange: [1024, 4096] });
    const caps = { supportsThinkingBudgetTokens: false };
    expect(refusal({ agent: 'claude', options: { model: 'm', thinkingBudgetTokens: 2048 }, caps, models })).toBeUndefined();
  });
});

const stdio = { name: 'files', transport: 'stdio', command: 'server' } as const;

describe('section 11: every row', () => {
  it.each<[string, Partial<RunOptions>, Partial<AgentCapabilities>]>([
    ['thinking', { thinkingEffort: 'low' }, { supportsThinking: false }],
    ['thinkingBudget', { thinkingBudgetTokens: 2048 }, { supportsThinkingBudgetTokens: false }],
    ['jsonMode', { outputFormat: 'json' }, { supportsJsonMode: false }],
    ['sessionResume', { sessionId: 's' }, { canResume: false }],
    ['sessionFork', { forkSessionId: 's' }, { canFork: false }],
    ['skills', { skills: ['a'] }, { supportsSkills: false }],
    ['mcp', { mcpServers: [stdio] }, { supportsMCP: false }],
    ['textStreaming', { stream: true }, { supportsTextStreaming: false }],
    ['imageInput', { attachments: [{ filePath: 'a.png' }] }, { supportsImageInput: false }],
    ['fileAttachments', { attachments: [{ filePath: 'a.pdf' }] }, { supportsFileAttachments: false }],
  ])('%s is refused without its capability and taken with it', (capability, options, caps) => {
    expect(refusal({ agent: 'claude', options })).toBeUndefined();
    expect(refusal({ agent: 'claude', options, caps })).toMatchObject({ code: 'CAPABILITY_ERROR', capability, agent: 'claude' });
  });

  it.each<[string, string, Partial<RunOptions>]>([
    ['gemini', 'jsonMode', { outputFormat: 'json' }],
    ['codex', 'sessionResume', { sessionId: 's' }],
    ['hermes', 'sessionFork', { forkSessionId: 's' }],
    ['codex', 'skills', { skills: ['a'] }],
    ['pi', 'mcp', { mcpServers: [stdio] }],
    ['copilot', 'imageInput', { attachments: [{ url: 'https://example.test/a.jpg?x=1' }] }],
    ['codex', 'fileAttachments', { attachments: [{ base64: 'YQ==', mimeType: 'text/plain' }] }],
  ])('%s does not support %s', (agent, capability, options) => {
    expect(refusal({ agent, options })).toMatchObject({ capability, message: `Agent '${agent}' does not support ${capability}` });
  });

  it('stream auto and stream false ask for nothing', () => {
    const caps = { supportsTextStreaming: false };
    expect(refusal({ agent: 'claude', options: { stream: 'auto' }, caps })).toBeUndefined();
    expect(refusal({ agent: 'claude', options: { stream: false }, caps })).toBeUndefined();
  });

  it('empty lists ask for nothing', () => {
    expect(refusal({ agent: 'pi', options: { mcpServers: [], attachments: [] } })).toBeUndefined();
  });
});

describe('section 5.1', () => {
  it('the model outranks the agent, for every feature that both have', () => {
    const models = registryWith({ supportsJsonMode: false, supportsImageInput: false });
    expect(refusal({ agent: 'claude', options: { model: 'm', outputFormat: 'json' }, models })).toMatchObject({
      message: "Model 'm' on agent 'claude' does not support jsonMode",
      model: 'm',
    });
    expect(refusal({ agent: 'claude', options: { outputFormat: 'json' }, models })).toBeUndefined();
  });

  it('a name that no list knows is held against the agent alone', () => {
    expect(refusal({ agent: 'claude', options: { model: 'sim-1', thinkingEffort: 'max', thinkingBudgetTokens: 1 } })).toBeUndefined();
  });

  it('a name that means several models is refused, unless another engine may know it', () => {
    const error = refusal({ agent: 'codex', options: { model: 'gpt-6' } });
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', fields: [{ field: 'model', received: 'gpt-6' }] });
    expect(refusal({ agent: 'codex', options: { model: 'gpt-6', engine: 'sim' } })).toBeUndefined();
  });
});
