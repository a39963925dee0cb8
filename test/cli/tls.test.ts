import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { openHome } from '../../src/home/home.ts';
import { captureIo } from '../support/capture-io.ts';
import { certificateFiles } from '../support/certificates.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const files = certificateFiles();
const otherFiles = certificateFiles(1);
let server: TestGateway;

beforeAll(async () => {
  server = await startGateway({ config: { server: files } });
});
afterAll(async () => {
  await server.close();
  for (const { cert_file } of [files, otherFiles]) rmSync(dirname(cert_file), { recursive: true, force: true });
});

async function abp(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = captureIo();
  const code = await main([...argv, '--home', server.home], io);
  return { code, out: io.out(), err: io.err() };
}

describe('a server of this home that speaks TLS with a certificate of its own', () => {
  it('names its address and the fingerprint of the certificate', () => {
    expect(openHome({ path: server.home }).readAddress()).toEqual({
      url: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/),
      pid: process.pid,
      certificate: expect.stringMatching(/^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/),
    });
  });

  it.each([['keys', 'list'], ['receipts', 'list'], ['agents', 'list'], ['usage'], ['recordings', 'list']])(
    'is found by abp %s %s',
    async (...argv) => {
      expect(await abp(...argv.filter((word) => typeof word === 'string'))).toMatchObject({ code: 0, err: '' });
    },
  );

  it('runs an agent, whose events are followed', async () => {
    expect((await abp('agents', 'create', 'helper', '--prompt', 'You help.')).code).toBe(0);
    expect(await abp('chat', 'helper', '--message', 'Say exactly: over TLS')).toMatchObject({
      code: 0,
      out: expect.stringContaining('over TLS'),
    });
  });

  it('is healthy for abp doctor', async () => {
    const { out } = await abp('doctor', '--json');
    const { checks } = JSON.parse(out) as { checks: { check: string; status: string; message: string }[] };
    expect(checks.find(({ check }) => check === 'server')).toMatchObject({
      status: 'ok',
      message: `answers at ${server.url} (pid ${process.pid}), known by its certificate`,
    });
  });
});

describe('something else at the address of the server', () => {
  it('gets no token, and the fault is said as what it is', async () => {
    const seen: string[] = [];
    const [cert, key] = [readFileSync(otherFiles.cert_file), readFileSync(otherFiles.key_file)];
    const other = createServer({ cert, key }, (request, response) => {
      seen.push(String(request.headers['x-abp-key']));
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const home = openHome({ path: server.home });
    const address = home.readAddress();
    // A TCP server has an address object; only pipes have a string.
    const url = `https://127.0.0.1:${(other.address() as AddressInfo).port}`;
    try {
      home.writeAddress({ url, pid: process.pid, certificate: address?.certificate });
      expect(await abp('keys', 'list')).toEqual({
        code: 6,
        out: '',
        err: `abp: ${url} shows another certificate than the server of this home has\nhint: Another program answers there, or the certificate was changed while the server ran: start the server again.\n`,
      });
      // Homes of earlier versions name no certificate: then the usual rules hold.
      home.writeAddress({ url: url.replace('127.0.0.1', 'localhost'), pid: process.pid });
      const { code, err } = await abp('keys', 'list');
      expect([code, err]).toEqual([
        6,
        expect.stringContaining('answers with a certificate that is not trusted here: it is signed by itself'),
      ]);
      expect((await abp('doctor')).out).not.toMatch(/kill|stop it/i);
      expect(seen).toEqual([]);
    } finally {
      if (address !== undefined) home.writeAddress(address);
      other.close();
    }
  });
});
