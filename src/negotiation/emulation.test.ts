import { describe, expect, it } from 'vitest';
import { CAPABILITIES } from '../contract/capability.ts';
import type { IrConversation } from '../ir/conversation.ts';
import { applyEmulation, canEmulate, defaultStrategy, EmulationConfig, EmulationEngine, hasUnemulatable, isEmpty } from './emulation.ts';

const hello: IrConversation = { messages: [{ role: 'user', parts: [{ kind: 'text', text: 'hello' }] }] };

const instructed: IrConversation = {
  messages: [
    { role: 'system', parts: [{ kind: 'text', text: 'Be brief.' }] },
    { role: 'user', parts: [{ kind: 'text', text: 'hello' }] },
  ],
};

function texts(conversation: IrConversation): string[][] {
  return conversation.messages.map(({ role, parts }) => [role, ...parts.map((part) => (part.kind === 'text' ? part.text : part.kind))]);
}

describe('the default strategy table', () => {
  it.each([
    ['extended_thinking', { type: 'system_prompt_injection', prompt: 'Think step by step before answering.' }],
    ['structured_output_json_schema', { type: 'post_processing', detail: 'Parse and validate JSON from text response' }],
    ['code_execution', { type: 'disabled', reason: 'Cannot safely emulate sandboxed code execution' }],
    ['tool_read', { type: 'disabled', reason: 'No emulation available for ToolRead' }],
    ['image_input', { type: 'disabled', reason: 'No emulation available for ImageInput' }],
  ] as const)('gives %s its strategy', (capability, strategy) => {
    expect(defaultStrategy(capability)).toEqual(strategy);
  });

  it('can emulate exactly two capabilities', () => {
    const names = CAPABILITIES.map((row) => row.name).filter(canEmulate);
    expect(names).toEqual(['structured_output_json_schema', 'extended_thinking']);
  });
});

describe('EmulationEngine', () => {
  it('runs the engine example: extended thinking is applied without warnings', () => {
    const { report } = EmulationEngine.withDefaults().apply(['extended_thinking'], hello);
    expect(report.applied.length).toBe(1);
    expect(report.warnings).toEqual([]);
  });

  it('writes the JSON example of an EmulationReport', () => {
    const { report } = EmulationEngine.withDefaults().apply(['extended_thinking', 'code_execution'], hello);
    expect(report).toEqual({
      applied: [
        {
          capability: 'extended_thinking',
          strategy: { type: 'system_prompt_injection', prompt: 'Think step by step before answering.' },
        },
      ],
      warnings: ['Capability CodeExecution not emulated: Cannot safely emulate sandboxed code execution'],
    });
    expect(isEmpty(report)).toBe(false);
    expect(hasUnemulatable(report)).toBe(true);
  });

  it('runs the configuration example: an override replaces a disabled default', () => {
    const prompt = 'Simulate code execution step by step.';
    const config = new EmulationConfig();
    config.set('code_execution', { type: 'system_prompt_injection', prompt });
    const { conversation, report } = new EmulationEngine(config).apply(['code_execution', 'extended_thinking'], hello);
    expect(report.warnings).toEqual([]);
    expect(report.applied.map((entry) => entry.capability)).toEqual(['code_execution', 'extended_thinking']);
    expect(texts(conversation)).toEqual([
      ['system', 'Simulate code execution step by step.', '\nThink step by step before answering.'],
      ['user', 'hello'],
    ]);
  });

  it('prepends a system message when there is none, marked as ours', () => {
    const { conversation } = EmulationEngine.withDefaults().apply(['extended_thinking'], hello);
    expect(conversation.messages[0]).toEqual({
      role: 'system',
      parts: [
        {
          kind: 'text',
          text: 'Think step by step before answering.',
          meta: { abp: { emulates: 'extended_thinking', prompt: 'Think step by step before answering.' } },
        },
      ],
    });
  });

  it('appends to the first system message, wherever it stands, and leaves the given conversation as it was', () => {
    const { conversation } = EmulationEngine.withDefaults().apply(['extended_thinking'], instructed);
    expect(texts(conversation)).toEqual([
      ['system', 'Be brief.', '\nThink step by step before answering.'],
      ['user', 'hello'],
    ]);
    expect(instructed.messages[0]?.parts).toEqual([{ kind: 'text', text: 'Be brief.' }]);
    const late = { messages: [...hello.messages, ...instructed.messages] };
    expect(texts(EmulationEngine.withDefaults().apply(['extended_thinking'], late).conversation)[1]).toEqual([
      'system',
      'Be brief.',
      '\nThink step by step before answering.',
    ]);
  });

  it('records post-processing without touching the conversation', () => {
    const { conversation, report } = EmulationEngine.withDefaults().apply(['structured_output_json_schema'], hello);
    expect(conversation).toBe(hello);
    expect(report).toEqual({
      applied: [
        {
          capability: 'structured_output_json_schema',
          strategy: { type: 'post_processing', detail: 'Parse and validate JSON from text response' },
        },
      ],
      warnings: [],
    });
    expect(hasUnemulatable(report)).toBe(false);
  });

  it('warns about a capability without emulation and touches nothing', () => {
    const { conversation, report } = EmulationEngine.withDefaults().apply(['tool_read'], hello);
    expect(conversation).toBe(hello);
    expect(report).toEqual({
      applied: [],
      warnings: ['Capability ToolRead not emulated: No emulation available for ToolRead'],
    });
    expect(isEmpty(report)).toBe(false);
  });

  it('reports nothing when nothing is asked', () => {
    const { conversation, report } = EmulationEngine.withDefaults().apply([], hello);
    expect(conversation).toBe(hello);
    expect(isEmpty(report)).toBe(true);
    expect(hasUnemulatable(report)).toBe(false);
  });

  it('counts a repeated capability once', () => {
    const { conversation, report } = EmulationEngine.withDefaults().apply(['extended_thinking', 'extended_thinking'], hello);
    expect(report.applied.length).toBe(1);
    expect(texts(conversation)[0]).toEqual(['system', 'Think step by step before answering.']);
  });

  it('recognises its own injection and names it again in the report', () => {
    const engine = EmulationEngine.withDefaults();
    const once = engine.apply(['extended_thinking'], instructed);
    const twice = engine.apply(['extended_thinking'], once.conversation);
    expect(twice.conversation).toBe(once.conversation);
    expect(twice.report).toEqual(once.report);
  });

  it('does not take the same words of a caller for its own injection', () => {
    const own = {
      messages: [{ role: 'system' as const, parts: [{ kind: 'text' as const, text: 'Think step by step before answering.' }] }],
    };
    const { conversation } = EmulationEngine.withDefaults().apply(['extended_thinking'], own);
    expect(conversation.messages[0]?.parts.length).toBe(2);
  });

  it('keeps the other members of a request', () => {
    const request = { ...hello, model: 'm-1', stream: true };
    expect(applyEmulation(new EmulationConfig(), ['extended_thinking'], request).conversation).toMatchObject({
      model: 'm-1',
      stream: true,
    });
  });
});
