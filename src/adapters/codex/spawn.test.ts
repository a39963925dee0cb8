import { expect, it } from 'vitest';
import { GATEWAY, planOf } from '../../../test/support/dialogue.ts';
import { spawn } from './spawn.ts';

it('leaves the configuration alone without a gateway', () => {
  expect(spawn(planOf('codex'))).toEqual({
    args: ['app-server'],
    env: {},
    files: {},
    stdin: 'open',
    pty: false,
    thinking: { by: 'none', detail: 'nothing was asked for' },
    unhonoured: [],
  });
});

const PROVIDER =
  'model_providers.abp={"name"="Agent Backplane","base_url"="http://127.0.0.1:8088/e/sim/v1","wire_api"="responses","env_key"="ABP_RUN_KEY"}';

it('reaches the gateway as a provider whose key stands in the environment', () => {
  const spec = spawn(planOf('codex', {}, { gateway: GATEWAY }));
  expect(spec.args).toEqual([
    'app-server',
    ...['-c', 'model_provider="abp"', '-c', PROVIDER, '-c', 'analytics.enabled=false', '-c', 'check_for_update_on_startup=false'],
    ...['-c', 'web_search="disabled"', '-c', 'features.multi_agent=false'],
  ]);
  expect(spec.env).toEqual({ ABP_RUN_KEY: 'abp_run_key' });
});

it('keeps the tools of the vendor on OpenAI itself', () => {
  expect(spawn(planOf('codex', {}, { gateway: { ...GATEWAY, engine: 'openai' } })).args).not.toContain('web_search="disabled"');
});

it('keeps the login of the user where the gateway takes it', () => {
  const gateway = { ...GATEWAY, engine: 'openai', ownLogin: true };
  const { args, env } = spawn(planOf('codex', {}, { gateway }));
  expect(args.join(' ')).toContain('"requires_openai_auth"=true');
  expect(env).toEqual({});
});

it('delivers an effort as a setting', () => {
  const { args, thinking } = spawn(planOf('codex', {}, { thinking: { reasoning_effort: 'high' } }));
  expect(args).toEqual(['app-server', '-c', 'model_reasoning_effort="high"', '-c', 'model_reasoning_summary="auto"']);
  expect(thinking).toEqual({ by: 'flag', detail: '-c model_reasoning_effort="high"' });
});

it('says what it cannot do', () => {
  const options = {
    systemPrompt: 'S',
    systemPromptMode: 'prepend',
    sessionId: 's',
    outputFormat: 'json',
    temperature: 0,
    maxTokens: 5,
    thinkingOverride: { x: 1 },
  } as const;
  expect(spawn(planOf('codex', options, { thinking: { x: 1 } })).unhonoured).toEqual([
    { option: 'systemPromptMode', reason: 'the agent has no place before its own prompt; the text stands after it' },
    { option: 'systemPrompt', reason: 'a session keeps the instructions that it began with' },
    { option: 'outputFormat', reason: 'asked for in the instructions; nothing enforces it' },
    { option: 'thinkingOverride.x', reason: 'the agent has no such parameter' },
    { option: 'temperature', reason: 'the agent has no setting for it' },
    { option: 'maxTokens', reason: 'the agent has no setting for it' },
  ]);
});

it('opens the screen of the agent with the same settings', () => {
  const options = { prompt: 'hi', sessionId: 's', approvalMode: 'yolo', systemPrompt: 'a "b"' } as const;
  expect(spawn(planOf('codex', options, { interactive: true, modelId: 'gpt-x' })).args).toEqual([
    ...['resume', 's', '-c', 'developer_instructions="a \\"b\\""', '-m', 'gpt-x', '-a', 'never', '-s', 'danger-full-access', '--', 'hi'],
  ]);
});

it('keeps what MCP servers are given out of the arguments of its screen', () => {
  const files = { name: 'files', transport: 'stdio', command: 'files', env: { TOKEN: 'hush' } } as const;
  const web = { name: 'web', transport: 'sse', url: 'https://mcp.example/x', headers: { Authorization: 'hush too' } } as const;
  const { args, env } = spawn(planOf('codex', { mcpServers: [files, web] }, { interactive: true }));
  expect(args).toContain('mcp_servers.files={"command"="files","args"=[],"env_vars"=["TOKEN"]}');
  expect(args).toContain('mcp_servers.web={"url"="https://mcp.example/x","env_http_headers"={"Authorization"="ABP_MCP_1_0"}}');
  expect(env).toEqual({ TOKEN: 'hush', ABP_MCP_1_0: 'hush too' });
  const other = { ...files, name: 'other', env: { TOKEN: 'another' } };
  expect(() => spawn(planOf('codex', { mcpServers: [files, other] }, { interactive: true }))).toThrow('give TOKEN two values');
});
