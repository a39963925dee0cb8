import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway();
});
afterAll(() => server.close());

async function call(
  path: string,
  options: { body?: object; token?: boolean } = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${server.url}${path}`, {
    method: options.body === undefined ? 'GET' : 'POST',
    headers: {
      ...(options.body !== undefined && { 'content-type': 'application/json' }),
      ...(options.token === true && { 'x-abp-key': server.token }),
    },
    ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
  });
  // Control routes answer with an object.
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

describe('coding agents over HTTP', () => {
  it('lists every agent with its profile, in camelCase', async () => {
    const { status, body } = await call('/v1/adapters');
    expect(status).toBe(200);
    expect(body.items).toContainEqual(
      expect.objectContaining({
        agent: 'pi',
        displayName: 'Pi',
        capabilities: expect.objectContaining({ canFork: true, supportsMCP: false }),
      }),
    );
  });

  it('shows one agent and how it is installed', async () => {
    const { body } = await call('/v1/adapters/opencode');
    expect(body).toMatchObject({ agent: 'opencode', defaultModelId: null, modelsAsOf: '2026-11-15' });
    expect(body).toMatchObject({ messages: { when: 'between', held: 'asked' }, traffic: { dialect: 'openai-chat' } });
    expect((await call('/v1/adapters/cursor')).body).toMatchObject({ messages: null, traffic: { rows: [] } });
    expect((await call('/v1/adapters/openclaw')).body).toMatchObject({
      hooks: {
        preToolUse: 'unsupported',
        postToolUse: 'unsupported',
        sessionStart: 'nonblocking',
        sessionEnd: 'nonblocking',
        stop: 'nonblocking',
        userPromptSubmit: 'blocking',
      },
    });
    expect(body.installInstructions).toContainEqual(expect.objectContaining({ command: 'npm install -g opencode-ai', date: '2026-11-15' }));
  });

  it('answers 404 with the code of runs for an agent nobody knows', async () => {
    const { status, body } = await call('/v1/adapters/nobody/models');
    expect(status).toBe(404);
    expect(body).toMatchObject({ error: { code: 'AGENT_NOT_FOUND', details: { agent: 'nobody' } } });
  });

  it('says what is installed and what is set, without a secret', async () => {
    expect((await call('/v1/adapters/pi/detect')).body).toMatchObject({ agent: 'pi', effective: { agent: 'pi' } });
    expect((await call('/v1/adapters/pi/auth')).body).toMatchObject({ agent: 'pi', guidance: [expect.any(String)] });
  });

  it('lists, validates and prices models', async () => {
    expect((await call('/v1/adapters/pi/models')).body).toMatchObject({ lastUpdated: '2026-11-20T00:00:00.000Z' });
    expect((await call('/v1/adapters/pi/models/validate', { body: { model: 'anthropic/claude-opus-5-5' } })).body).toMatchObject({
      valid: true,
      status: 'ok',
    });
    const usage = { model: 'anthropic/claude-opus-5-5', inputTokens: 1_000_000, cachedTokens: 1_000_000, outputTokens: 0 };
    expect((await call('/v1/adapters/pi/models/cost', { body: usage })).body).toEqual({ estimatedUsd: 4, totalUsd: 0.2 });
    expect((await call('/v1/adapters/pi/models/cost', { body: { ...usage, model: 'mine' } })).body).toEqual({
      estimatedUsd: 0,
      totalUsd: null,
    });
  });

  it('refuses unknown fields and numbers that are none', async () => {
    const { status, body } = await call('/v1/adapters/pi/models/cost', {
      body: { model: 'm', inputTokens: -1, outputTokens: 0, extra: 1 },
    });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { code: 'invalid_request' } });
  });

  it.each(['/v1/adapters/pi/install', '/v1/adapters/pi/models/refresh'])('%s starts a process, so it needs the token', async (path) => {
    expect((await call(path, { body: {} })).status).toBe(403);
  });

  it('reports a way to install that does not exist', async () => {
    const { status, body } = await call('/v1/adapters/pi/install', { body: { method: 'scoop' }, token: true });
    expect(status).toBe(409);
    expect(body).toMatchObject({ error: { code: 'AGENT_NOT_INSTALLED', retryable: false } });
  });
});
