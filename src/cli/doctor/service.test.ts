import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openHome } from '../../home/home.ts';
import { configuration, judgeEngines, judgePort, server } from './service.ts';

/** Starts it on a free port and returns that port. */
async function listen(target: Server): Promise<number> {
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  // A TCP server has an address object; only pipes have a string.
  return (target.address() as AddressInfo).port;
}

it('finds a port that another program has, and a free one', async () => {
  const other = createServer();
  const port = await listen(other);
  expect(await judgePort('127.0.0.1', port)).toEqual({
    status: 'fail',
    message: `127.0.0.1:${port} is used by another program`,
    fix: 'Stop it, or choose another port with ABP_PORT or abp serve --port.',
  });
  await new Promise((resolve) => other.close(resolve));
  expect(await judgePort('127.0.0.1', port)).toEqual({ status: 'ok', message: `not running; 127.0.0.1:${port} is free` });
});

it('finds an address that this machine does not have', async () => {
  expect((await judgePort('192.0.2.1', 0)).status).toBe('fail');
});

it('tells engines with a key from those without', () => {
  const found = judgeEngines({ engines: { claude: { key: 'k' }, openai: {} } });
  expect(found.status).toBe('ok');
  expect(found.message).toMatch(/^with a key: claude; without: openai, gemini/);
});

it('only warns when no engine has a key, and names the variables', () => {
  const found = judgeEngines({ engines: {} });
  expect(found.status).toBe('warn');
  expect(found.message).toMatch(/^with a key: none; /);
  expect(found.fix).toContain('ANTHROPIC_API_KEY');
});

it('fails on a configuration that is not valid, and then checks no port', async () => {
  const subject = { home: '/no-such-home', loaded: new Error('abp.toml is not valid') };
  expect(await configuration.run(subject)).toMatchObject({ status: 'fail', message: 'abp.toml is not valid' });
  expect(await server.run(subject)).toMatchObject({ status: 'warn', message: 'not checked: the configuration is not valid' });
});

it('finds the live server of the home, and one that has stopped answering', async () => {
  const path = mkdtempSync(join(tmpdir(), 'abp-doctor-'));
  const subject = { home: path, loaded: new Error('not needed while a server runs') };
  const home = openHome({ path });
  const live = createHttpServer((_, res) => res.end('{}'));
  const url = `http://127.0.0.1:${await listen(live)}`;
  const lock = home.lockServer();
  home.writeAddress({ url, pid: 4242 });
  expect(await server.run(subject)).toEqual({ status: 'ok', message: `answers at ${url} (pid 4242)` });
  await new Promise((resolve) => live.close(resolve));
  expect(await server.run(subject)).toMatchObject({ status: 'fail', message: `the server at ${url} (pid 4242) does not answer` });
  lock.release();
  rmSync(path, { recursive: true });
});
