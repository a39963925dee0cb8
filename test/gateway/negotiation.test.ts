import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Backend, BackendList, Matrix } from '../../src/gateway/api/backends.ts';
import { NegotiateResponse } from '../../src/gateway/api/negotiate.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway();
});
afterAll(() => server.close());

const get = async (path: string) => JSON.parse((await call(`${server.url}${path}`)).body.toString());
const negotiate = async (body: object) => {
  const { status, body: answer } = await post(`${server.url}/v1/negotiate`, body);
  return { status, answer: JSON.parse(answer.toString()) };
};

describe('POST /v1/negotiate', () => {
  it('answers the JSON examples of the seed', async () => {
    const { status, answer } = await negotiate({
      manifest: { streaming: 'native', tool_read: 'native', tool_write: 'emulated' },
      requirements: {
        required: [
          { capability: 'streaming', min_support: 'native' },
          { capability: 'tool_read', min_support: 'emulated' },
          { capability: 'tool_write', min_support: 'emulated' },
        ],
      },
    });
    expect(status).toBe(200);
    expect(NegotiateResponse.parse(answer)).toEqual({
      result: { native: ['streaming', 'tool_read'], emulatable: ['tool_write'], unsupported: [] },
      report: {
        compatible: true,
        native_count: 2,
        emulated_count: 1,
        unsupported_count: 0,
        summary: '2 native, 1 emulatable, 0 unsupported — fully compatible',
        details: [
          ['Streaming', { level: 'native' }],
          ['ToolRead', { level: 'native' }],
          ['ToolWrite', { level: 'emulated', strategy: 'adapter' }],
        ],
      },
      unmet: [],
    });
  });

  it('wants every capability native in strict', async () => {
    const manifest = { streaming: 'native', tool_write: 'emulated' };
    const required = [
      { capability: 'streaming', min_support: 'emulated' },
      { capability: 'tool_write', min_support: 'emulated' },
    ];
    const lenient = await negotiate({ manifest, requirements: { required }, compatibility: 'best_effort' });
    expect(lenient.answer.unmet).toEqual([]);
    const strict = await negotiate({ manifest, requirements: { required }, compatibility: 'strict' });
    expect(strict.answer.unmet).toEqual([{ capability: 'tool_write', min_support: 'native', level: 'emulated' }]);
  });

  it('takes a manifest as GET /v1/backends gives it', async () => {
    const { manifest, capabilities } = await get('/v1/backends/engine:claude');
    expect(capabilities).toEqual(manifest);
    const requirements = { required: [{ capability: 'streaming', min_support: 'native' }] };
    expect((await negotiate({ manifest, requirements })).answer.unmet).toEqual([]);
  });

  it('gives the reason of a restriction, and names what is too low and what is missing', async () => {
    const { answer } = await negotiate({
      manifest: { tool_bash: { restricted: { reason: 'sandbox only' } } },
      requirements: {
        required: [
          { capability: 'tool_bash', min_support: 'native' },
          { capability: 'mcp_client', min_support: 'emulated' },
        ],
      },
    });
    expect(NegotiateResponse.parse(answer)).toMatchObject({
      result: { native: [], emulatable: ['tool_bash'], unsupported: ['mcp_client'] },
      report: {
        compatible: false,
        summary: '0 native, 1 emulatable, 1 unsupported — incompatible',
        details: [
          ['ToolBash', { level: 'emulated', strategy: 'restricted: sandbox only' }],
          ['McpClient', { level: 'unsupported' }],
        ],
      },
      unmet: [
        { capability: 'tool_bash', min_support: 'native', level: { restricted: { reason: 'sandbox only' } } },
        { capability: 'mcp_client', min_support: 'emulated', level: null },
      ],
    });
  });

  it('takes a backend by its id, or by a bare name that only one has', async () => {
    const requirements = { required: [{ capability: 'extended_thinking', min_support: 'native' }] };
    expect((await negotiate({ backend: 'engine:claude', requirements })).answer.unmet).toEqual([]);
    expect((await negotiate({ backend: 'engine:gemini', requirements })).answer.unmet).toHaveLength(1);
    expect((await negotiate({ backend: 'sim', requirements })).status).toBe(200);
    expect(await negotiate({ backend: 'claude', requirements })).toMatchObject({
      status: 400,
      answer: { error: { code: 'E003', details: { possible_interpretations: ['engine:claude', 'host:claude', 'adapter:claude'] } } },
    });
    expect(await negotiate({ backend: 'nobody', requirements })).toMatchObject({ status: 404, answer: { error: { code: 'not_found' } } });
  });

  it.each([
    [{ requirements: { required: [] } }, 'give either manifest or backend'],
    [{ backend: 'sim', manifest: {}, requirements: { required: [] } }, 'give either manifest or backend'],
    [{ backend: 'sim' }, 'requirements: is required'],
    [
      { backend: 'sim', requirements: { required: [{ capability: 'tool_raed', min_support: 'native' }] } },
      'requirements.required[0].capability: "tool_raed" is not a known capability; did you mean tool_read?',
    ],
    [
      { backend: 'sim', requirements: { required: [{ capability: 'tool_read', min_support: 'any' }] } },
      'requirements.required[0].min_support: "any" is not one of native, emulated',
    ],
    [{ manifest: { streaming: 'best' }, requirements: { required: [] } }, 'manifest.streaming: "best" is not one of'],
  ])('refuses %j', async (body, message) => {
    const { status, answer } = await negotiate(body);
    expect([status, answer.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.error.message).toContain(message);
  });
});

describe('backends and the matrix', () => {
  it('are listed, and each is found by its id', async () => {
    const { items, total } = BackendList.parse(await get('/v1/backends'));
    expect(items).toHaveLength(total);
    for (const backend of items) expect(Backend.parse(await get(`/v1/backends/${backend.id}`))).toEqual(backend);
  });

  it('has the rows of the seed', async () => {
    const { cells } = Matrix.parse(await get('/v1/matrix'));
    const cell = (dialect: string, engine: string) => cells.find((one) => one.dialect === dialect && one.engine === engine);
    const passthrough = { mode: 'passthrough', guarantee: 'No request rewriting' };
    const mapped = { mode: 'mapped', guarantee: 'Opinionated mapping, early errors' };
    expect(cell('claude', 'claude')).toMatchObject(passthrough);
    expect(cell('claude', 'gemini')).toMatchObject(mapped);
    expect(cell('openai-chat', 'claude')).toMatchObject(mapped);
    expect(cell('openai-responses', 'claude')).toMatchObject(mapped);
    expect(cell('openai-chat', 'openai')).toMatchObject(passthrough);
    expect(cell('openai-responses', 'openai')).toMatchObject(passthrough);
  });

  it('says where each level comes from', async () => {
    const { capabilities } = Matrix.parse(await get('/v1/matrix'));
    const found = (backend: string, capability: string) =>
      capabilities.find((one) => one.backend === backend && one.capability === capability);
    expect(found('engine:gemini', 'extended_thinking')).toMatchObject({ level: 'unsupported', source: 'manifest' });
    expect(found('host:kimi', 'checkpointing')).toMatchObject({ level: 'emulated', source: 'hello' });
    expect(found('adapter:claude', 'streaming')).toMatchObject({ source: 'profile' });
    // What a host does not advertise has no key.
    expect(found('host:claude', 'tool_ask_user')).toBeUndefined();
  });
});
