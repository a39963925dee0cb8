import { describe, expect, it } from 'vitest';
import { CapabilityManifest } from '../contract/support.ts';
import { manifest as claude } from './claude/manifest.ts';
import { manifest as gemini } from './gemini/manifest.ts';
import { manifest as openai } from './openai/manifest.ts';

const engines = [
  ['claude', claude],
  ['gemini', gemini],
  ['openai', openai],
] as const;

describe('the engine manifests', () => {
  it.each([
    ['streaming', 'native', 'native', 'native'],
    ['tool_use', 'native', 'native', 'native'],
    ['vision', 'native', 'native', 'native'],
    ['image_input', 'native', 'native', 'native'],
    ['tool_web_search', 'emulated', 'native', 'emulated'],
    ['code_execution', 'unsupported', 'native', 'unsupported'],
    ['extended_thinking', 'native', 'unsupported', 'unsupported'],
    ['json_mode', 'emulated', 'native', 'native'],
    ['structured_output_json_schema', 'emulated', 'native', 'native'],
    ['logprobs', 'unsupported', 'native', 'native'],
    ['top_k', 'native', 'native', 'unsupported'],
    ['stop_sequences', 'native', 'native', 'native'],
  ] as const)('%s is %s on Claude, %s on Gemini, %s on OpenAI', (capability, onClaude, onGemini, onOpenai) => {
    expect(claude[capability]).toBe(onClaude);
    expect(gemini[capability]).toBe(onGemini);
    expect(openai[capability]).toBe(onOpenai);
  });

  it.each(engines)('%s fits the contract and says something about each capability of a model API', (_, manifest) => {
    expect(CapabilityManifest.parse(manifest)).toEqual(manifest);
    expect(Object.keys(manifest).toSorted()).toEqual(Object.keys(claude).toSorted());
  });

  it.each(engines)('%s does not claim tools that run on the machine of the caller', (_, manifest) => {
    const host = [
      'tool_read',
      'tool_write',
      'tool_edit',
      'tool_bash',
      'tool_glob',
      'tool_grep',
      'tool_ask_user',
      'mcp_client',
      'session_fork',
    ];
    expect(host.filter((name) => Object.hasOwn(manifest, name))).toEqual([]);
  });
});
