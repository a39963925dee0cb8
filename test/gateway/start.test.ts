import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Config } from '../../src/gateway/config.ts';
import { startServer } from '../../src/gateway/server.ts';
import { openHome } from '../../src/home/home.ts';
import { startGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';

function homeFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), 'abp-start-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return join(parent, 'home');
}

it.each<[string, object, string]>([
  ['all addresses', { host: '0.0.0.0' }, 'Refusing to listen on 0.0.0.0 without TLS'],
  ['all IPv6 addresses', { host: '::' }, 'Refusing to listen on :: without TLS'],
  ['an address of the network', { host: '10.1.2.3' }, 'Refusing to listen on 10.1.2.3 without TLS'],
  ['an empty address', { host: '' }, 'without TLS'],
  ['half of TLS', { host: '0.0.0.0', cert_file: 'cert.pem' }, 'TLS needs both'],
])('a server refuses to start on %s', async (_, server, message) => {
  const path = homeFolder();
  await expect(startServer({ config: Config.parse({ server }), home: openHome({ path }), version: '0' })).rejects.toThrow(message);
  await expect(startGateway({ config: { server, auth: { local: false } } })).rejects.toThrow(message);
});

it('behind a proxy nobody is local', async () => {
  const server = await startGateway({ config: { server: { trust_proxy: true } } });
  const body = { model: 'm', max_tokens: 1, messages: [] };
  expect((await post(`${server.url}/e/sim/v1/messages`, body)).status).toBe(401);
  await server.close();
});

it('a second server on the same home gets a clear error, and the first goes on', async () => {
  const first = await startGateway();
  await expect(startGateway({ home: first.home })).rejects.toMatchObject({
    code: 'conflict',
    message: `another server (pid ${process.pid}) already serves this home at ${first.url}; stop it or set ABP_HOME`,
  });
  expect((await call(`${first.url}/readyz`)).status).toBe(200);
  await first.close();
});

it('a taken port gets a clear error and leaves the home free', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const address = taken.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const path = homeFolder();
  const config = Config.parse({ server: { port } });
  await expect(startServer({ config, home: openHome({ path }), version: '0' })).rejects.toMatchObject({
    code: 'conflict',
    message: `port ${port} on 127.0.0.1 is taken by another program`,
  });
  taken.close();
  const server = await startServer({ config, home: openHome({ path }), version: '0' });
  expect((await call(`${server.url}/healthz`)).status).toBe(200);
  await server.close();
});

it('a database that cannot be reached gets a clear error without its password and leaves the home free', async () => {
  const path = homeFolder();
  const databaseUrl = 'postgres://user:hunter2@127.0.0.1:1/abp';
  const failed = startGateway({ home: path, databaseUrl });
  await expect(failed).rejects.toThrow('the database postgres://127.0.0.1:1/abp cannot be reached');
  await expect(failed).rejects.not.toThrow('hunter2');
  const server = await startGateway({ home: path });
  await server.close();
});

it('tells where it is while it runs, in a file that goes with it', async () => {
  const path = homeFolder();
  const server = await startGateway({ home: path });
  expect(JSON.parse(readFileSync(join(path, 'address'), 'utf8'))).toEqual({ url: server.url, pid: process.pid });
  await server.close();
  expect(existsSync(join(path, 'address'))).toBe(false);
});

it('keeps its receipts over a restart', async () => {
  const path = homeFolder();
  const first = await startGateway({ home: path });
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
  const run = (await post(`${first.url}/e/sim/v1/messages`, body)).headers['x-abp-run-id'];
  // Without waiting for the receipt: closing settles it.
  await first.close();
  const second = await startGateway({ home: path });
  const answer = await call(`${second.url}/v1/receipts/${run}`);
  expect(JSON.parse(answer.body.toString()).status).toBe('completed');
  expect(second.faults()).toBe('');
  expect(readdirSync(join(path, 'journal'))).toHaveLength(1);
  await second.close();
});
