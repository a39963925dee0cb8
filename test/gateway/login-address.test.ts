import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call } from '../support/http-call.ts';
import { type RecordingUpstream, startUpstream } from '../support/recording-upstream.ts';

const BODY = '{"model":"m","input":"hi"}';
const LOGIN = ['authorization', 'Bearer of-chatgpt', 'ChatGPT-Account-ID', 'account-1'];
let api: RecordingUpstream;
let app: RecordingUpstream;
let server: TestGateway;
let keyed: TestGateway;

beforeAll(async () => {
  [api, app] = await Promise.all([startUpstream(), startUpstream()]);
  const openai = { url: api.url, login_url: `${app.url}/backend-api/codex` };
  server = await startGateway({ engines: { openai } });
  keyed = await startGateway({ engines: { openai: { ...openai, key: 'sk-of-the-engine' } } });
});
afterAll(async () => {
  await Promise.all([server.close(), keyed.close()]);
  await Promise.all([api.close(), app.close()]);
});

const sent = async (to: TestGateway, path: string, headers: readonly string[], method = 'POST'): Promise<number> =>
  (await call(`${to.url}${path}`, { method, headers, ...(method === 'POST' && { body: BODY }) })).status;

describe('a ChatGPT login of the caller', () => {
  it('goes to the address that takes it, unchanged, and to no other', async () => {
    const before = api.requests.length;
    expect(await sent(server, '/e/openai/v1/responses', LOGIN)).toBe(200);
    expect(app.requests.at(-1)).toMatchObject({ line: 'POST /backend-api/codex/responses HTTP/1.1', body: Buffer.from(BODY) });
    expect(app.requests.at(-1)?.headers).toEqual(
      expect.arrayContaining([
        ['authorization', 'Bearer of-chatgpt'],
        ['ChatGPT-Account-ID', 'account-1'],
      ]),
    );
    expect(api.requests).toHaveLength(before);
  });

  it('takes paths along that no dialect describes', async () => {
    expect(await sent(server, '/e/openai/v1/models?client_version=1', LOGIN, 'GET')).toBe(200);
    expect(app.requests.at(-1)?.line).toBe('GET /backend-api/codex/models?client_version=1 HTTP/1.1');
  });

  it('goes nowhere where the engine has a key of ours', async () => {
    const before = app.requests.length;
    expect(await sent(keyed, '/e/openai/v1/responses', LOGIN)).toBe(200);
    expect(api.requests.at(-1)?.line).toBe('POST /v1/responses HTTP/1.1');
    expect(JSON.stringify(api.requests.at(-1)?.headers)).not.toContain('of-chatgpt');
    expect(app.requests).toHaveLength(before);
  });
});

it('a key of the caller goes to the API', async () => {
  expect(await sent(server, '/e/openai/v1/responses', ['authorization', 'Bearer sk-mine'])).toBe(200);
  expect(api.requests.at(-1)).toMatchObject({ line: 'POST /v1/responses HTTP/1.1' });
  expect(api.requests.at(-1)?.headers).toContainEqual(['authorization', 'Bearer sk-mine']);
});
