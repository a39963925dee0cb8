import { expect, onTestFinished, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, rawCall } from '../support/http-call.ts';

/** Headers that proxies add; each says that somebody else than the peer may be calling. */
const PASSED_ON = [
  ['Forwarded', 'for=192.0.2.60;proto=https;by=203.0.113.43'],
  ['Via', '1.1 proxy'],
  ['X-Forwarded-For', '192.0.2.60'],
  ['X-Forwarded-Host', 'example.com'],
  ['X-Forwarded-Proto', 'https'],
  ['X-Forwarded-Port', '443'],
  ['X-Forwarded-Prefix', '/abp'],
  ['X-Forwarded-Client-Cert', 'x'],
  ['X-Real-IP', '127.0.0.1'],
] as const;

async function start(config: Parameters<typeof startGateway>[0] = {}): Promise<TestGateway> {
  const gateway = await startGateway(config);
  onTestFinished(gateway.close);
  return gateway;
}

const SAY = JSON.stringify({ model: 'sim-1', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] });
const ask = ({ url }: TestGateway, headers: readonly string[]) => call(`${url}/e/sim/v1/messages`, { method: 'POST', headers, body: SAY });

test('a request that somebody passed on is never taken for one of this machine', async () => {
  const gateway = await start();
  expect((await ask(gateway, [])).status).toBe(200);
  for (const [name, value] of PASSED_ON) {
    for (const spelled of [name, name.toLowerCase(), name.toUpperCase()]) {
      expect((await ask(gateway, [spelled, value])).status, spelled).toBe(401);
      expect((await ask(gateway, [spelled, ''])).status, `${spelled} without a value`).toBe(401);
    }
  }
});

test('behind a trusted proxy nobody is local, whatever the request says, and names are the proxy’s to check', async () => {
  const gateway = await start({ config: { server: { trust_proxy: true } } });
  expect((await ask(gateway, [])).status).toBe(401);
  expect((await ask(gateway, ['X-Forwarded-For', '127.0.0.1'])).status).toBe(401);
  const known = ['X-ABP-Key', gateway.token, 'Host', 'abp.example.com', 'X-Forwarded-For', '192.0.2.60'];
  expect((await ask(gateway, known)).status).toBe(200);
});

test('a repeated Host is refused on every kind of path, with a proxy and without', async () => {
  for (const trust_proxy of [false, true]) {
    const gateway = await start({ config: { server: { trust_proxy } } });
    const { host } = new URL(gateway.url);
    for (const path of ['/healthz', '/v1/receipts', '/v1/messages', '/e/openai/v1/files']) {
      const answer = await rawCall(gateway.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nHOST: ${host}\r\nConnection: close\r\n\r\n`);
      expect(answer, path).toMatch(/^HTTP\/1\.1 400 /);
    }
  }
});
