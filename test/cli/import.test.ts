import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/gateway/config.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import { callAbp } from '../support/run-abp.ts';

const folder = mkdtempSync(join(tmpdir(), 'abp-import-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Imported {
  readonly toml: string;
  readonly variables: readonly { readonly name: string; readonly from: string }[];
  readonly remarks: readonly { readonly where: string; readonly what: string }[];
}

/** The translation, which must be a configuration that can be loaded with the variables it asks for. */
async function imported(kind: string, text: string, env: NodeJS.ProcessEnv = {}): Promise<Imported> {
  const [source, target] = [join(folder, 'source'), join(folder, 'abp.toml')];
  writeFileSync(source, text);
  const { code, out, err } = await callAbp(['import', kind, source, '--output', target, '--json'], { env });
  expect([code, err], out).toEqual([0, '']);
  expect((await callAbp(['config', 'check', target])).code).toBe(0);
  return JSON.parse(out);
}

/** A server with that configuration. */
async function served({ variables }: Imported, env: NodeJS.ProcessEnv = {}): Promise<TestGateway> {
  const given = Object.fromEntries(variables.map(({ name, from }) => [name, env[from]]));
  const { config } = loadConfig({ path: join(folder, 'abp.toml'), env: { ...env, ...given } });
  const { server: _server, database: _database, ...rest } = config;
  const gateway = await startGateway({ config: { ...rest, auth: { local: true } } });
  onTestFinished(gateway.close);
  return gateway;
}

async function upstream(status = '200 OK'): Promise<RecordingUpstream> {
  const one = await startUpstream();
  onTestFinished(one.close);
  const choice = { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' };
  const body = {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [choice],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
  };
  one.answer((socket) => void socket.write(whole(JSON.stringify(body), { status })));
  return one;
}

const chat = (model: string): object => ({ model, messages: [{ role: 'user', content: 'hi' }] });

function seen({ requests }: RecordingUpstream): unknown[] {
  return requests.map(({ line, headers, body }) => {
    const key = headers.find(([name]) => /^(?:authorization|api-key)$/i.test(name))?.[1];
    return [line.split(' ')[1], JSON.parse(String(body)).model, key];
  });
}

describe('abp import litellm', () => {
  test('says of a limit that it is not held where another deployment of the model has none', async () => {
    const model = (key: string, more: string): string =>
      `  - model_name: fast\n    litellm_params: {model: openai/gpt-4o-mini, api_key: ${key}${more}}\n`;
    const { toml, remarks } = await imported('litellm', `model_list:\n${model('a', ', rpm: 60')}${model('b', '')}`);
    expect(toml).not.toContain('requests_per_minute');
    expect(remarks).toEqual([{ where: 'model_list[0]', what: expect.stringContaining('its limit requests_per_minute is not held') }]);
  });

  test('routes calls as LiteLLM did: several deployments of a name, fallbacks between names, keys of variables', async () => {
    const [broken, second, azure, spare] = [
      await upstream('500 Internal Server Error'),
      await upstream(),
      await upstream(),
      await upstream(),
    ];
    const yaml = `
model_list:
  - model_name: fast
    litellm_params: { model: openai/gpt-5-mini, api_base: ${broken.url}/v1, api_key: os.environ/FIRST_KEY }
  - model_name: fast
    litellm_params: { model: hosted_vllm/llama-3, api_base: "${second.url}/v1", api_key: sk-second-literal }
  - model_name: gpt-4o
    litellm_params: { model: azure/eu-deployment, api_base: os.environ/AZURE_API_BASE, api_key: os.environ/AZURE_API_KEY, api_version: "2024-10-21", rpm: 60 }
  - model_name: shaky
    litellm_params: { model: openai/gpt-5, api_base: ${broken.url}, api_key: os.environ/FIRST_KEY }
  - model_name: spare
    litellm_params: { model: custom_openai/own-model, api_base: ${spare.url} }
    model_info: { max_input_tokens: 32000, input_cost_per_token: 0.0000001, output_cost_per_token: 0.0000004 }
router_settings:
  model_group_alias: { quick: fast }
  fallbacks: [{ shaky: [spare] }]
  num_retries: 1
`;
    const env = { FIRST_KEY: 'sk-first', AZURE_API_KEY: 'azure-key', AZURE_API_BASE: `${azure.url}/` };
    const result = await imported('litellm', yaml, env);
    expect(result.variables.map(({ from }) => from)).toEqual(['FIRST_KEY', 'AZURE_API_KEY']);
    const gateway = await served(result, env);
    const ask = async (model: string): Promise<unknown[]> => {
      const { status, headers } = await post(`${gateway.url}/v1/chat/completions`, chat(model));
      return [status, headers['x-abp-engine']];
    };
    expect(await ask('fast')).toEqual([200, 'vllm']);
    // Two tries on the first, as num_retries says, then the second deployment.
    expect(seen(broken)).toEqual([
      ['/v1/chat/completions', 'gpt-5-mini', 'Bearer sk-first'],
      ['/v1/chat/completions', 'gpt-5-mini', 'Bearer sk-first'],
    ]);
    expect(seen(second)).toEqual([['/v1/chat/completions', 'llama-3', 'Bearer sk-second-literal']]);
    expect(await ask('quick')).toEqual([200, 'vllm']);
    expect((await ask('gpt-4o'))[0]).toBe(200);
    expect(seen(azure)).toEqual([['/openai/v1/chat/completions', 'eu-deployment', 'azure-key']]);
    expect((await ask('shaky'))[0]).toBe(200);
    expect(seen(spare)).toEqual([['/v1/chat/completions', 'own-model', undefined]]);
    const messages = await post(`${gateway.url}/v1/messages`, { ...chat('spare'), max_tokens: 10 });
    expect(messages.status).toBe(200);
  });

  test('makes deployments of the keys and addresses of one model, which share its calls, and takes the cache over', async () => {
    const [one, other] = [await upstream(), await upstream()];
    const yaml = `
model_list:
  - model_name: fast
    litellm_params: { model: openai/gpt-5-mini, api_base: ${one.url}/v1, api_key: os.environ/KEY_A, weight: 3, rpm: 100 }
  - model_name: fast
    litellm_params: { model: openai/gpt-5-mini, api_base: ${other.url}/v1, api_key: sk-literal-b, weight: 1, rpm: 50 }
litellm_settings: { cache: true, cache_params: { type: redis, ttl: 600, host: x } }
router_settings: { routing_strategy: simple-shuffle }
`;
    const env = { KEY_A: 'sk-a' };
    const result = await imported('litellm', yaml, env);
    const { config } = loadConfig({ path: join(folder, 'abp.toml'), env: {} });
    const [[id, engine] = []] = Object.entries(config.engines).filter(([, { deployments }]) => deployments !== undefined);
    expect(engine).toMatchObject({
      limits: { requests_per_minute: 150 },
      deployments: [
        { name: 'd1', url: one.url, weight: 3 },
        { name: 'd2', url: other.url, weight: 1, key: 'sk-literal-b' },
      ],
    });
    expect(config.routes).toMatchObject([{ match: 'fast', to: `${id}/gpt-5-mini`, fallback: [], cache: { ttl_s: 600, shared: true } }]);
    expect(result.variables).toEqual([{ name: `ABP_ENGINE_${String(id).toUpperCase().replaceAll('-', '_')}_D1_KEY`, from: 'KEY_A' }]);
    expect(result.remarks.map(({ where }) => where)).toEqual([
      'router_settings.routing_strategy',
      'litellm_settings.cache_params.type',
      'litellm_settings.cache_params.host',
    ]);
    const gateway = await served(result, env);
    const ask = (at: number): Promise<unknown> =>
      post(`${gateway.url}/v1/chat/completions`, { model: 'fast', messages: [{ role: 'user', content: `question ${at}` }] });
    await Promise.all(Array.from({ length: 16 }, (_, at) => ask(at)));
    expect(new Set(seen(one).map(String))).toEqual(new Set(['/v1/chat/completions,gpt-5-mini,Bearer sk-a']));
    expect(new Set(seen(other).map(String))).toEqual(new Set(['/v1/chat/completions,gpt-5-mini,Bearer sk-literal-b']));
    await ask(0);
    expect(one.requests.length + other.requests.length).toBe(16);
  });

  test('says of every value what has become of it', async () => {
    const yaml = `
model_list:
  - model_name: claude
    litellm_params: { model: anthropic/claude-sonnet-4-5, api_key: os.environ/ANTHROPIC_API_KEY, temperature: 0.2, max_budget: 10, budget_duration: 1d }
  - model_name: titan
    litellm_params: { model: bedrock/amazon.titan, aws_region_name: us-east-1 }
  - model_name: "*"
    litellm_params: { model: openai/* }
litellm_settings: { drop_params: true, cache: true, cache_params: { type: redis-semantic }, success_callback: [langfuse], max_budget: 100 }
router_settings: { routing_strategy: least-busy, provider_budget_config: { openai: { budget_limit: 100, time_period: 1d }, anthropic: { budget_limit: 5, time_period: 12d } } }
general_settings: { master_key: sk-1234, database_url: "postgresql://x", alerting: [slack], max_parallel_requests: 20 }
environment_variables: { REDIS_HOST: localhost }
mystery: 1
`;
    const { toml, variables, remarks } = await imported('litellm', yaml);
    const { config } = loadConfig({ path: join(folder, 'abp.toml'), env: {} });
    expect(config.routes).toEqual([
      expect.objectContaining({ match: 'claude', to: 'claude-2/claude-sonnet-4-5', fallback: [], attempts: 1 }),
      expect.objectContaining({ match: '*', to: 'openai' }),
    ]);
    expect(config.budgets).toEqual([
      { on: { engine: 'claude-2' }, period: 'day', limit_nano_usd: 10_000_000_000, action: 'refuse' },
      { on: { engine: 'openai' }, period: 'day', limit_nano_usd: 100_000_000_000, action: 'refuse' },
    ]);
    expect([config.auth.local, config.limits.concurrency]).toEqual([false, 20]);
    expect(variables).toEqual([{ name: 'ABP_ENGINE_CLAUDE_2_KEY', from: 'ANTHROPIC_API_KEY' }]);
    expect(toml).not.toContain('sk-1234');
    expect(remarks.map(({ where }) => where)).toEqual([
      'model_list[0].litellm_params.temperature',
      'model_list[1].litellm_params.model',
      'model_list[1].litellm_params.aws_region_name',
      'router_settings.provider_budget_config.anthropic',
      'router_settings.routing_strategy',
      'litellm_settings.drop_params',
      'litellm_settings.success_callback',
      'litellm_settings.max_budget',
      'general_settings.master_key',
      'general_settings.database_url',
      'general_settings.alerting',
      'environment_variables.REDIS_HOST',
      'mystery',
      'litellm_settings.cache_params',
    ]);
  });

  test('prints the configuration for a file and the rest for people', async () => {
    const source = join(folder, 'small.yaml');
    writeFileSync(
      source,
      'model_list: [{ model_name: a, litellm_params: { model: gpt-5, api_key: os.environ/MINE } }]\nlitellm_settings: { drop_params: true }\n',
    );
    const { code, out, err } = await callAbp(['import', 'litellm', source]);
    expect([code, out]).toEqual([0, expect.stringContaining('[[routes]]\nmatch = "a"\nto = "openai/gpt-5"\n')]);
    expect(err).toBe(
      'Variables that the server needs:\n  export ABP_ENGINE_OPENAI_KEY="$MINE"\nWithout a counterpart, or different here:\n  litellm_settings.drop_params  the default: what has no form is dropped and named in the receipt, or refused where it matters\n',
    );
    for (const [text, message] of [
      ['a: [', 'is not YAML'],
      ['model_list: 5', 'model_list'],
    ] as const) {
      writeFileSync(source, text);
      expect(await callAbp(['import', 'litellm', source])).toMatchObject({ code: 2, err: expect.stringContaining(message) });
    }
  });
});

test('abp import litellm reads anchors that are merged, and fallbacks of all models, and says which models there are not', async () => {
  const { remarks } = await imported(
    'litellm',
    `model_list:
  - model_name: fast
    litellm_params: &shared
      model: groq/llama-3.3-70b
      api_key: shared-key
      rpm: 600
  - model_name: large
    litellm_params:
      <<: *shared
      model: groq/kimi-k2
  - model_name: spare
    litellm_params: {model: deepseek/deepseek-chat, api_key: k}
litellm_settings:
  cache: yes
  fallbacks: [{fast: [large]}, {"*": [spare]}, {gone: [fast]}]
`,
  );
  const { config } = loadConfig({ path: join(folder, 'abp.toml'), env: {} });
  expect(config.routes.map(({ match, fallback }) => [match, fallback])).toEqual([
    ['fast', [config.routes[1]?.to]],
    ['large', ['deepseek/deepseek-chat']],
    ['spare', []],
  ]);
  expect(config.routes.map(({ cache }) => cache?.ttl_s)).toEqual([60, 60, 60]);
  const limited = Object.values(config.engines).filter(({ limits }) => limits?.requests_per_minute === 600);
  expect(limited.map(({ key }) => key)).toEqual(['shared-key', 'shared-key']);
  expect(remarks.map(({ where }) => where)).toEqual(['fallbacks.gone']);
});

describe('abp import ccr', () => {
  test('routes the calls of Claude Code as claude-code-router did, and says what it chose by other means', async () => {
    const [big, small] = [await upstream(), await upstream()];
    const text = `{
      // comments, as in its examples
      "APIKEY": "secret", "HOST": "0.0.0.0", "PORT": 3456, "LOG": true, "API_TIMEOUT_MS": 600000,
      "Providers": [
        { "name": "big", "api_base_url": "${big.url}/v1/chat/completions", "api_key": "$BIG_KEY", "models": ["big-1", "vendor/thinker:latest"], "transformer": { "use": ["deepseek"] } },
        { "name": "ollama", "api_base_url": "${small.url}/v1/chat/completions", "api_key": "ollama", "models": ["qwen2.5-coder:latest"] },
        { "name": "openrouter", "api_base_url": "https://openrouter.ai/api/v1/chat/completions", "api_key": "\${OPENROUTER_API_KEY}", "models": ["anthropic/claude-sonnet-4"] },
        { "name": "gemini", "api_base_url": "https://generativelanguage.googleapis.com/v1beta/models/", "api_key": "literal-key-of-gemini", "models": ["gemini-2.5-pro"] },
        { "name": "volcengine", "api_base_url": "https://ark.cn-beijing.volces.com/api/v3/chat/completions", "api_key": "x", "models": ["v"] },
      ],
      "Router": { "default": "big,big-1", "background": "ollama,qwen2.5-coder:latest", "think": "big,vendor/thinker:latest", "longContext": "gemini,gemini-2.5-pro", "longContextThreshold": 60000 },
    }`;
    const result = await imported('ccr', text);
    expect(result.variables).toEqual([{ name: 'ABP_ENGINE_BIG_KEY', from: 'BIG_KEY' }]);
    const said = Object.fromEntries(result.remarks.map(({ where, what }) => [where, what]));
    expect(Object.keys(said)).toEqual([
      'Providers[0].transformer',
      'Providers[1].models',
      'Providers[2].models',
      'Providers[3].models',
      'Providers[4].api_base_url',
      'Providers[4].api_key',
      'Providers[4].models',
      'Router.think',
      'Router.longContext',
      'Router.longContextThreshold',
      'HOST',
      'APIKEY',
      'LOG',
    ]);
    expect(said['Router.think']).toContain('ask for it by name: big/vendor/thinker:latest');
    const { config } = loadConfig({ path: join(folder, 'abp.toml'), env: { OPENROUTER_API_KEY: 'or-key' } });
    expect([config.server.port, config.auth.local, config.engines.openrouter?.key, config.engines.gemini?.key]).toEqual([
      3456,
      false,
      'or-key',
      'literal-key-of-gemini',
    ]);
    const gateway = await served(result, { BIG_KEY: 'key-of-big' });
    for (const model of ['claude-sonnet-4-5', 'claude-haiku-4-5', 'big/vendor/thinker:latest'])
      expect((await post(`${gateway.url}/v1/messages`, { ...chat(model), max_tokens: 10 })).status).toBe(200);
    expect(seen(big)).toEqual([
      ['/v1/chat/completions', 'big-1', 'Bearer key-of-big'],
      ['/v1/chat/completions', 'vendor/thinker:latest', 'Bearer key-of-big'],
    ]);
    expect(seen(small)).toEqual([['/v1/chat/completions', 'qwen2.5-coder:latest', 'Bearer ollama']]);
  });

  test('knows by the path of an address what is spoken there, and says what becomes of limits of answers', async () => {
    const text = JSON.stringify({
      Providers: [
        { name: 'anthropic', api_base_url: 'https://api.anthropic.com/v1/messages', api_key: 'a', transformer: { use: ['Anthropic'] } },
        { name: 'glm', api_base_url: 'https://glm.example/api/anthropic/v1/messages', api_key: 'b', models: ['glm-5'] },
        { name: 'relay', api_base_url: 'https://relay.example/v1beta/models/', api_key: 'c', models: ['gemini-2.5-pro'] },
        {
          name: 'kept',
          api_base_url: 'https://kept.example/v1/',
          api_key: 'd',
          transformer: { use: [['maxtoken', { max_tokens: 65536 }]] },
        },
      ],
    });
    const { remarks } = await imported('ccr', text);
    const { config } = loadConfig({ path: join(folder, 'abp.toml'), env: {} });
    const { claude, glm, gemini, kept } = config.engines;
    expect([claude?.url, claude?.key]).toEqual([undefined, 'a']);
    expect([glm?.base, glm?.url]).toEqual(['claude', 'https://glm.example/api/anthropic']);
    expect([gemini?.url, gemini?.key]).toEqual(['https://relay.example', 'c']);
    expect([kept?.base, kept?.url]).toEqual(['openai-compatible', 'https://kept.example/v1']);
    expect(remarks.map(({ where }) => where)).toContain('Providers[3].transformer.maxtoken');
  });

  test('refuses a file that is none', async () => {
    const source = join(folder, 'wrong.json');
    writeFileSync(source, 'no json');
    expect(await callAbp(['import', 'ccr', source])).toMatchObject({ code: 2, err: expect.stringContaining('is not JSON') });
    writeFileSync(source, '{"Providers": 3}');
    expect(await callAbp(['import', 'ccr', source])).toMatchObject({ code: 2, err: expect.stringContaining('Providers') });
  });
});

test.each([
  ['litellm', 'model_list: 5', /^abp: the standard input is not valid: model_list/],
  ['litellm', 'a: [', /^abp: the standard input is not YAML/],
  ['ccr', '{', /^abp: the standard input is not JSON/],
])('%s calls what comes without a file by a name: %j', async (kind, stdin, message) => {
  const { code, err } = await callAbp(['import', kind, '-'], { stdin });
  expect([code, err]).toEqual([2, expect.stringMatching(message)]);
});
