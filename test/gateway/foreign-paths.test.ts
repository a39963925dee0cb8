import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call } from '../support/http-call.ts';
import { type RecordingUpstream, startUpstream } from '../support/recording-upstream.ts';

let server: TestGateway;
let upstream: RecordingUpstream;

beforeAll(async () => {
  upstream = await startUpstream();
  const at = { url: upstream.url, key: 'sk-test' };
  server = await startGateway({ engines: { claude: at, openai: at, gemini: at, kimi: at } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const ask = async (path: string, headers: readonly string[] = []): Promise<{ status: number; body: Record<string, unknown> }> => {
  const { status, body } = await call(`${server.url}${path}`, {
    method: 'POST',
    headers: ['content-type', 'application/json', ...headers],
    body: '{}',
  });
  return { status, body: JSON.parse(body.toString()) };
};

describe('a path of one vendor under the engine of another', () => {
  it.each([
    ['gemini', '/v1/messages/batches', 'claude'],
    ['openai', '/v1/messages/batches', 'claude'],
    ['claude', '/v1/responses/compact', 'openai'],
    ['claude', '/v1/batches', 'openai'],
    ['gemini', '/v1/images/generations', 'openai'],
    ['kimi', '/v1/conversations', 'openai'],
    ['claude', '/v1beta/cachedContents', 'gemini'],
    ['openai', '/upload/v1beta/files', 'gemini'],
  ])('is refused on %s: %s, and the right path is named', async (engine, path, home) => {
    const before = upstream.requests.length;
    const { status, body } = await ask(`/e/${engine}${path}`);
    expect([status, JSON.stringify(body)]).toEqual([404, expect.stringContaining(`/e/${home}${path}`)]);
    expect(upstream.requests.length).toBe(before);
  });

  it.each([
    ['claude', '/v1/messages/batches'],
    ['claude', '/v1/files'],
    ['openai', '/v1/files'],
    ['openai', '/v1/responses/compact'],
    ['kimi', '/v1/files'],
    ['gemini', '/v1beta/cachedContents'],
    ['gemini', '/a/path/of/tomorrow'],
  ])('passes on %s where it is its own or nobody’s: %s', async (engine, path) => {
    const before = upstream.requests.length;
    expect((await ask(`/e/${engine}${path}`)).status).toBe(200);
    expect(upstream.requests.length).toBe(before + 1);
  });
});

describe('a path that nobody has', () => {
  it('is told to a Claude client in its own shape', async () => {
    for (const path of ['/v1/nothing', '/v1/models/nobody', '/e/nobody/v1/nothing']) {
      const { status, body } = await ask(path, ['anthropic-version', '2023-06-01']);
      expect([status === 404 || status === 405, body.type, body.error]).toEqual([
        true,
        'error',
        expect.objectContaining({ message: expect.any(String) }),
      ]);
    }
  });

  it('is told so under the engine of Claude, whoever asks', async () => {
    const { status, body } = await ask('/e/claude/v1/responses/compact');
    expect([status, body]).toEqual([404, expect.objectContaining({ type: 'error' })]);
  });

  it('is told to a Gemini client with a status word', async () => {
    const { body } = await ask('/v1/nothing', ['x-goog-api-key', 'k']);
    expect(body.error).toMatchObject({ status: 'NOT_FOUND' });
  });

  it('keeps the shape of the agent plane, whoever asks', async () => {
    expect((await ask('/v1/agents/nobody/nothing', ['x-goog-api-key', 'k'])).body).toMatchObject({ type: expect.any(String), status: 404 });
  });

  it('is told to everybody else in our own words', async () => {
    expect((await ask('/v1/nothing')).body).toEqual({ error: expect.objectContaining({ code: 'not_found' }) });
  });
});
