import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { certificateFiles } from '../support/certificates.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { needing } from '../support/needs.ts';
import { chunk, chunkedHead, lastChunk, type RecordingUpstream, startUpstream } from '../support/recording-upstream.ts';

const deploy = join(import.meta.dirname, '../../deploy');

interface Running {
  readonly port: number;
  stop(): Promise<void>;
}

interface Proxy {
  readonly name: string;
  /** Starts it in a folder before the gateway, with the file of `deploy` and only its places changed. */
  start(folder: string, gateway: string, port: number): Promise<ChildProcess>;
}

const files = certificateFiles();

const nginx: Proxy = {
  name: 'nginx',
  async start(folder, gateway, port) {
    const site = readFileSync(join(deploy, 'nginx/abp.conf'), 'utf8')
      .replace('server 127.0.0.1:8088;', `server ${gateway};`)
      .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`)
      .replace('/etc/ssl/abp/cert.pem', files.cert_file)
      .replace('/etc/ssl/abp/key.pem', files.key_file)
      .replace('/var/log/nginx/abp.log', join(folder, 'abp.log'));
    for (const name of ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(join(folder, name));
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name.replace('client_', '')};`,
    );
    writeFileSync(join(folder, 'site.conf'), site);
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    writeFileSync(
      join(folder, 'nginx.conf'),
      `${user} daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {} http { ${paths.join(' ')} include ${folder}/site.conf; }`,
    );
    const arguments_ = ['-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')];
    const checked = spawnSync('nginx', ['-t', ...arguments_], { encoding: 'utf8' });
    expect([checked.status, checked.stderr]).toEqual([0, expect.stringContaining('test is successful')]);
    return spawn('nginx', arguments_, { stdio: 'ignore' });
  },
};

const caddy: Proxy = {
  name: 'caddy',
  async start(folder, gateway, port) {
    const site = readFileSync(join(deploy, 'caddy/Caddyfile'), 'utf8')
      .replace('abp.example.com {', `https://localhost:${port}, https://127.0.0.1:${port} {\n\ttls ${files.cert_file} ${files.key_file}`)
      .replaceAll('127.0.0.1:8088', gateway);
    const file = join(folder, 'Caddyfile');
    writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n${site}`);
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    copyFileSync(join(deploy, 'caddy/Caddyfile'), join(folder, 'as-it-is'));
    for (const one of [file, join(folder, 'as-it-is')]) {
      const checked = spawnSync('caddy', ['adapt', '--config', one, '--adapter', 'caddyfile', '--validate'], { encoding: 'utf8', env });
      expect([checked.status, checked.stderr]).toEqual([0, expect.not.stringContaining('Error')]);
    }
    return spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], { stdio: 'ignore', env });
  },
};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function before(proxy: Proxy, gateway: string): Promise<Running> {
  const [folder, port] = [mkdtempSync(join(tmpdir(), `abp-${proxy.name}-`)), await freePort()];
  const child = await proxy.start(folder, new URL(gateway).host, port);
  const ended = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  await vi.waitUntil(() => reachable(port), { timeout: 60_000, interval: 100 });
  return { port, stop };
}

async function reachable(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = tlsConnect({ host: '127.0.0.1', port, rejectUnauthorized: false, servername: 'localhost' }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** An answer as it comes: its head, and its text so far. */
async function stream(port: number, key: string): Promise<{ status: number; until(text: string): Promise<string> }> {
  const headers = { host: 'localhost', 'content-type': 'application/json', 'x-abp-key': key };
  const request = https.request({
    host: '127.0.0.1',
    port,
    path: '/e/openai/v1/chat/completions',
    method: 'POST',
    headers,
    rejectUnauthorized: false,
    servername: 'localhost',
  });
  request.end(JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }));
  const [response] = await once(request, 'response');
  let got = '';
  response.on('data', (data: Buffer) => {
    got += String(data);
  });
  const until = async (text: string): Promise<string> => {
    await expect.poll(() => got).toContain(text);
    return got;
  };
  return { status: response.statusCode, until };
}

describe.each([nginx, caddy])('$name with the file of deploy', (proxy) => {
  const missing =
    spawnSync(proxy.name, [proxy.name === 'nginx' ? '-v' : 'version']).status === 0 ? undefined : `${proxy.name} is not installed`;

  describe.skipIf(missing !== undefined)(needing('as it runs', missing), () => {
    let engine: RecordingUpstream;
    let gateway: TestGateway;
    let running: Running;
    beforeAll(async () => {
      engine = await startUpstream();
      gateway = await startGateway({ config: { server: { trust_proxy: true } }, engines: { openai: { url: engine.url, key: 'k' } } });
      running = await before(proxy, gateway.url);
    });
    afterAll(async () => {
      await running?.stop();
      await gateway?.close();
      await engine?.close();
    });

    it('passes each part of a stream on before the next one is there', async () => {
      const go = Promise.withResolvers<void>();
      engine.answer(async (socket) => {
        socket.write(chunkedHead());
        socket.write(chunk('data: {"first":1}\n\n'));
        await go.promise;
        socket.write(chunk('data: [DONE]\n\n'));
        socket.write(lastChunk());
      });
      const answer = await stream(running.port, gateway.token);
      expect([answer.status, await answer.until('first')]).toEqual([200, 'data: {"first":1}\n\n']);
      go.resolve();
      await answer.until('[DONE]');
    });

    it('passes WebSockets on', async () => {
      engine.answer((socket: Socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: abc\r\n\r\n');
        socket.write('from the engine');
      });
      const socket = tlsConnect({
        host: '127.0.0.1',
        port: running.port,
        rejectUnauthorized: false,
        servername: 'localhost',
        ALPNProtocols: ['http/1.1'],
      });
      const lines = [
        'GET /e/openai/v1/realtime?model=m HTTP/1.1',
        'Host: localhost',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
      ];
      socket.write(`${[...lines, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', `X-ABP-Key: ${gateway.token}`].join('\r\n')}\r\n\r\n`);
      let got = '';
      socket.on('data', (data) => {
        got += String(data);
      });
      await expect.poll(() => got).toContain('from the engine');
      expect(got).toMatch(/^HTTP\/1\.1 101 /);
      socket.destroy();
    });

    it('needs a key from everybody', async () => {
      engine.answer(() => undefined);
      expect((await stream(running.port, 'abp_of_nobody')).status).toBe(401);
    });
  });
});
