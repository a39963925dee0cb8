import { once } from 'node:events';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/cli/client.ts';
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

  it('is told from one that does not answer where nothing knows its certificate', async () => {
    const { code, err } = await abp('conformance', `${server.url}/e/sim`, '--dialect', 'claude');
    expect([code, err]).toEqual([
      6,
      expect.stringMatching(/certificate that is not trusted here: it is signed by itself\nhint: Set NODE_EXTRA_CA_CERTS/),
    ]);
  });

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

describe('a certificate that is replaced while the server runs', () => {
  it('is shown to new connections, named by the home, and taken by commands; what does not fit is refused and said', async () => {
    const own = certificateFiles();
    const running = await startGateway({ config: { server: { ...own, tls_min_version: '1.3' } } });
    const home = openHome({ path: running.home });
    const list = async (): Promise<number> => await main(['keys', 'list', '--home', running.home], captureIo());
    try {
      const before = home.readAddress()?.certificate;
      expect([await list(), await shown(running.url), before]).toEqual([0, before, before]);
      // One file of two: the certificate before stays, and the fault is told.
      copyFileSync(otherFiles.cert_file, own.cert_file);
      await expect.poll(() => running.faults()).toContain('is not the key of the certificate');
      expect(await shown(running.url)).toBe(before);
      copyFileSync(otherFiles.key_file, own.key_file);
      await expect.poll(() => shown(running.url)).not.toBe(before);
      await expect.poll(() => home.readAddress()?.certificate).toBe(await shown(running.url));
      expect(await list()).toBe(0);
    } finally {
      await running.close();
      rmSync(dirname(own.cert_file), { recursive: true, force: true });
    }
  });

  it('is followed by a process that knew the one before', async () => {
    const own = certificateFiles();
    const running = await startGateway({ config: { server: own } });
    try {
      const client = connect({ homePath: running.home });
      expect(await client.call('GET', '/v1/keys')).toMatchObject({ items: [] });
      const before = await shown(running.url);
      for (const file of ['cert_file', 'key_file'] as const) copyFileSync(otherFiles[file], own[file]);
      await expect.poll(() => readFileSync(join(running.home, 'address'), 'utf8')).not.toContain(before);
      expect(await client.call('GET', '/v1/keys')).toMatchObject({ items: [] });
    } finally {
      await running.close();
      rmSync(dirname(own.cert_file), { recursive: true, force: true });
    }
  });
});

describe('versions of TLS', () => {
  it.each([
    ['1.2', 'TLSv1.2', true],
    ['1.3', 'TLSv1.2', false],
    ['1.3', 'TLSv1.3', true],
  ] as const)('at least %s: %s is taken: %s', async (least, version, taken) => {
    const running = await startGateway({ config: { server: { ...files, tls_min_version: least } } });
    try {
      expect(await shown(running.url, version).then(Boolean, () => false)).toBe(taken);
    } finally {
      await running.close();
    }
  });
});

describe('files that are no certificate', () => {
  it('are refused at the start, with their name', async () => {
    const wrong = { ...files, key_file: otherFiles.key_file };
    await expect(startGateway({ config: { server: wrong } })).rejects.toThrow(`${otherFiles.key_file} is not the key of the certificate`);
    const gone = { ...files, cert_file: join(dirname(files.cert_file), 'none.pem') };
    await expect(startGateway({ config: { server: gone } })).rejects.toThrow(/server\.cert_file: .*none\.pem cannot be used: ENOENT/);
  });
});

/** The fingerprint of the certificate that a new connection is shown. */
async function shown(url: string, version?: 'TLSv1.2' | 'TLSv1.3'): Promise<string> {
  const { hostname, port } = new URL(url);
  const versions = version === undefined ? {} : { minVersion: version, maxVersion: version };
  return await new Promise((resolve, reject) => {
    const socket = tlsConnect({ host: hostname, port: Number(port), rejectUnauthorized: false, ...versions }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? '');
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

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
        err: `abp: ${url} shows another certificate than the server of this home has\nhint: Another program answers there. If the certificate of the server was replaced a moment ago, try again.\n`,
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
