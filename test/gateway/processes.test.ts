import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mergeMetrics } from '../../src/gateway/processes/merge-metrics.ts';
import { openHome } from '../../src/home/home.ts';
import { certificateFiles } from '../support/certificates.ts';
import { call, post, send } from '../support/http-call.ts';
import { readyDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { ended, runAbp, spawnAbp } from '../support/run-abp.ts';

const asked = (words: string, stream = false) => ({ model: 'm', max_tokens: 50, stream, messages: [{ role: 'user', content: words }] });

describe('several processes on one port', () => {
  const folder = mkdtempSync(join(tmpdir(), 'abp-processes-'));
  const home = join(folder, 'home');
  let postgres: TestPostgres;
  let server: ReturnType<typeof spawnAbp>;
  let url: string;
  let token: string[];

  beforeAll(async () => {
    postgres = await startPostgres();
    const env = { ABP_HOME: home, ABP_LOG: 'silent', ABP_DATABASE_URL: await postgres.readyDatabase() };
    server = spawnAbp(['serve', '--json', '--port', '0', '--processes', '2'], env);
    server.stderr.pipe(process.stderr);
    const ready = once(createInterface(server.stdout), 'line');
    // The first process answers, the second one starts: signals that come now end nothing.
    await vi.waitUntil(() => existsSync(join(home, 'address')), { timeout: 60_000 });
    for (const signal of ['SIGUSR2', 'SIGHUP'] as const) server.kill(signal);
    const [line] = await ready;
    const told = JSON.parse(String(line));
    expect(told).toEqual({ url: told.url, pid: server.pid, processes: 2 });
    ({ url } = told);
    token = ['x-abp-key', openHome({ path: home }).token];
  });
  afterAll(async () => {
    server?.kill('SIGKILL');
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const folderOf = (number: number): string => (number === 1 ? home : join(home, 'processes', String(number)));
  const pidOf = (number: number): number => JSON.parse(readFileSync(join(folderOf(number), 'address'), 'utf8')).pid;
  const metric = async (test: RegExp): Promise<string[]> => {
    const { body } = await call(`${url}/metrics`, { headers: token });
    return String(body)
      .split('\n')
      .filter((line) => test.test(line));
  };

  it('share the connections, and every one of them knows the receipts and the numbers of all', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => post(`${url}/e/sim/v1/messages`, asked(`call ${at}`))));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const counted = await metric(/^abp_calls_total/);
    expect(counted.map((line) => line.slice(0, 'abp_calls_total{process="1"'.length))).toEqual([
      'abp_calls_total{process="1"',
      'abp_calls_total{process="2"',
    ]);
    expect(counted.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)).toBe(40);
    const nodes = new Set<string>();
    for (const { headers } of answers.slice(0, 20)) {
      // Asked twice, by connections that come to different processes.
      for (const _ of [1, 2]) {
        const about = async (): Promise<{ status: string; node: string }> =>
          JSON.parse(String((await call(`${url}/v1/receipts/${headers['x-abp-run-id']}?wait=10`, { headers: token })).body));
        await expect.poll(async () => (await about()).status).toBe('completed');
        nodes.add((await about()).node);
      }
    }
    expect(nodes.size).toBe(2);
  });

  it('answer as one what is not a call: tickets, links of the console, and streams of what all of them do', async () => {
    const headers = [...token, 'content-type', 'application/json'];
    const ask = async (method: string, path: string, body: object): Promise<Record<string, string>> =>
      JSON.parse(String((await call(`${url}${path}`, { method, headers, body: JSON.stringify(body) })).body));
    // Every call has a connection of its own, which comes to one process or the other.
    for (let round = 0; round < 6; round += 1) {
      const { ticket } = await ask('POST', '/v1/tickets', { path: '/v1/receipts/stream' });
      const opened = await send(`${url}/v1/receipts/stream?ticket=${ticket}`);
      expect(opened.statusCode).toBe(200);
      opened.destroy();
      const again = await call(`${url}/v1/receipts/stream?ticket=${ticket}`);
      expect(again.status).toBe(401);
      const { code } = await ask('POST', '/v1/console/pairings', { scopes: ['answer'] });
      const browser = await call(`${url}/v1/console/session`, {
        method: 'POST',
        headers: ['content-type', 'application/json'],
        body: JSON.stringify({ code }),
      });
      expect(browser.status).toBe(200);
    }
    const stream = await send(`${url}/v1/receipts/stream`, { headers: token });
    let text = '';
    stream.on('data', (chunk) => (text += String(chunk)));
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(`${url}/e/sim/v1/messages`, asked('told'))));
    const runs = answers.map(({ headers: got }) => String(got['x-abp-run-id']));
    await expect.poll(() => runs.filter((run) => !text.includes(run))).toEqual([]);
    stream.destroy();
    const nodes = new Set([...text.matchAll(/"node":"(node_\w+)"/g)].map(([, node]) => node));
    expect(nodes.size).toBe(2);
    // Who lost the connection goes on after the last event, on whichever process.
    const last = [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
    expect(last).toMatch(/^\d+:\d+,\d+:\d+$/);
    const next = await send(`${url}/v1/receipts/stream`, { headers: [...token, 'last-event-id', last] });
    let later = '';
    next.on('data', (chunk) => (later += String(chunk)));
    const { headers: got } = await post(`${url}/e/sim/v1/messages`, asked('later'));
    await expect.poll(() => later).toContain(String(got['x-abp-run-id']));
    next.destroy();
    expect(runs.filter((run) => later.includes(run))).toEqual([]);
  });

  it('are started again when they are killed, and the other one serves meanwhile', async () => {
    for (const number of [1, 2]) {
      const before = pidOf(number);
      process.kill(before, 'SIGKILL');
      const statuses = await Promise.all([1, 2, 3].map(async () => (await retried(url)).status));
      expect(statuses).toEqual([200, 200, 200]);
      await expect.poll(() => pidIn(folderOf(number))).not.toBe(before);
      await expect
        .poll(() => metric(/^abp_process_answered/))
        .toEqual(['abp_process_answered{process="1"} 1', 'abp_process_answered{process="2"} 1']);
    }
  });

  const pidIn = (path: string): number | undefined => {
    try {
      return JSON.parse(readFileSync(join(path, 'address'), 'utf8')).pid;
    } catch {
      // It is being started.
      return undefined;
    }
  };

  it('are replaced one after the other at SIGUSR2, and a client that tries once more sees no error', { timeout: 300_000 }, async () => {
    const before = [pidOf(1), pidOf(2)];
    const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
    let over = false;
    const seen: (number | string)[] = [];
    const client = async (): Promise<void> => {
      while (!over) seen.push(await triedTwice(() => statusOver(agent, url)));
    };
    const clients = Array.from({ length: 8 }, client);
    server.kill('SIGUSR2');
    // Both start anew, one after the other, beside clients that never rest.
    const renewed = (): boolean => [pidIn(folderOf(1)), pidIn(folderOf(2))].every((pid) => pid !== undefined && !before.includes(pid));
    await vi.waitUntil(renewed, { timeout: 240_000 });
    over = true;
    await Promise.all(clients);
    agent.destroy();
    expect(seen.length).toBeGreaterThan(20);
    expect([...new Set(seen)]).toEqual([200]);
  });

  it('let streams end at SIGTERM, take no more calls, and leave nothing running', async () => {
    const pids = [pidOf(1), pidOf(2)];
    const streams = await Promise.all(
      [1, 2].map(() =>
        send(`${url}/e/sim/v1/messages`, {
          method: 'POST',
          headers: ['content-type', 'application/json'],
          body: JSON.stringify(asked('Wait 1000 ms. Say "done".', true)),
        }),
      ),
    );
    const end = ended(server);
    server.kill('SIGTERM');
    for (const stream of streams) {
      let text = '';
      for await (const chunk of stream) text += String(chunk);
      expect(text).toContain('message_stop');
    }
    expect(await end).toBe(0);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow();
    await expect(post(`${url}/e/sim/v1/messages`, asked('more'))).rejects.toThrow();
  });
});

describe('several processes on one port that speak TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'abp-processes-tls-'));
  const home = join(folder, 'home');
  const files = certificateFiles();
  const other = certificateFiles(1);
  let server: ReturnType<typeof spawnAbp>;
  let url: string;

  beforeAll(async () => {
    const config = `[server]\ncert_file = "${files.cert_file}"\nkey_file = "${files.key_file}"\n`;
    writeFileSync(join(folder, 'abp.toml'), config);
    const env = { ABP_HOME: home, ABP_LOG: 'silent', ABP_CONFIG: join(folder, 'abp.toml'), ABP_DATABASE_URL: await readyDatabase() };
    server = spawnAbp(['serve', '--json', '--port', '0', '--processes', '2'], env);
    server.stderr.pipe(process.stderr);
    const [line] = await once(createInterface(server.stdout), 'line');
    ({ url } = JSON.parse(String(line)));
    expect(url).toMatch(/^https:/);
  });
  afterAll(() => {
    server?.kill('SIGKILL');
    for (const path of [folder, dirname(files.cert_file), dirname(other.cert_file)]) rmSync(path, { recursive: true, force: true });
  });

  /** A call over a connection of its own. */
  const ask = (
    path: string,
    body?: object,
    headers: http.OutgoingHttpHeaders = {},
  ): Promise<http.IncomingMessage & { certificate: string }> =>
    new Promise((resolve, reject) => {
      const options = {
        method: body === undefined ? 'GET' : 'POST',
        agent: false,
        rejectUnauthorized: false,
        headers: { 'content-type': 'application/json', ...headers },
      };
      const request = https.request(`${url}${path}`, options, (response) => {
        const socket = response.socket as TLSSocket; // the connection of a request of this module
        resolve(Object.assign(response, { certificate: socket.getPeerCertificate().fingerprint256 }));
      });
      request.once('error', reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const textOf = async (answer: http.IncomingMessage): Promise<string> => (await Array.fromAsync(answer, String)).join('');
  /** The certificates of connections, which come to one process or the other. */
  const shown = async (): Promise<string[]> => {
    const answers = await Promise.all(Array.from({ length: 24 }, () => ask('/e/sim/v1/messages', asked('tls'))));
    for (const answer of answers) expect(JSON.parse(await textOf(answer)).type).toBe('message');
    return [...new Set(answers.map(({ certificate }) => certificate))];
  };

  it('show one certificate, know each other over it, and all take a new one', async () => {
    const metric = async (name: string): Promise<string[]> => {
      const text = await textOf(await ask('/metrics', undefined, { 'x-abp-key': openHome({ path: home }).token }));
      return text.split('\n').filter((line) => line.startsWith(name));
    };
    /** How many calls each of the processes has served. */
    const served = async (): Promise<number[]> => (await metric('abp_calls_total')).map((line) => Number(line.split(' ').at(-1)));
    const [before, ...others] = await shown();
    expect([others, (await served()).length]).toEqual([[], 2]);
    for (const file of ['cert_file', 'key_file'] as const) copyFileSync(other[file], files[file]);
    await expect.poll(async () => (await shown()).includes(before ?? '')).toBe(false);
    const first = await served();
    // Both have taken calls since then, and none of them under the certificate before.
    await expect
      .poll(async () => {
        const certificates = await shown();
        expect([certificates.length, certificates.includes(before ?? '')]).toEqual([1, false]);
        return (await served()).every((calls, at) => calls > (first[at] ?? calls));
      })
      .toBe(true);
    expect((await runAbp(['keys', 'list'], { env: { ABP_HOME: home } })).code).toBe(0);
  });

  it('let streams end at SIGTERM', async () => {
    const streams = await Promise.all([1, 2, 3, 4].map(() => ask('/e/sim/v1/messages', asked('Wait 1000 ms. Say "done".', true))));
    const end = ended(server);
    server.kill('SIGTERM');
    for (const stream of streams) expect(await textOf(stream)).toContain('message_stop');
    expect(await end).toBe(0);
  });
});

/** A call over kept connections; its status. */
async function statusOver(agent: http.Agent, url: string): Promise<number> {
  return await new Promise((resolve, reject) => {
    const request = http.request(
      `${url}/e/sim/v1/messages`,
      { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
      (response) => {
        response.resume();
        response.once('close', () => (response.complete ? resolve(response.statusCode ?? 0) : reject(new Error('cut'))));
      },
    );
    request.once('error', reject);
    request.end(JSON.stringify(asked('again')));
  });
}

async function triedTwice(ask: () => Promise<number>): Promise<number | string> {
  try {
    return await ask();
  } catch {
    // The one more try that clients have.
    return await ask().catch(String);
  }
}

/** A process that was killed takes the connections along that it had been given. */
async function retried(url: string): ReturnType<typeof post> {
  try {
    return await post(`${url}/e/sim/v1/messages`, asked('meanwhile'));
  } catch {
    return await post(`${url}/e/sim/v1/messages`, asked('meanwhile'));
  }
}

it('several processes are refused on SQLite, and the error names PostgreSQL', async () => {
  const home = mkdtempSync(join(tmpdir(), 'abp-processes-sqlite-'));
  const { code, err } = await runAbp(['serve', '--processes', '2'], { env: { ABP_HOME: home } });
  rmSync(home, { recursive: true, force: true });
  expect(code).not.toBe(0);
  expect(err).toContain('--processes needs PostgreSQL');
});

it('metrics of several processes are one text in which every sample says whose it is', () => {
  const one = '# HELP a Words.\n# TYPE a counter\na{b="x } y"} 1\n\n# HELP c More.\n# TYPE c gauge\nc 2\n';
  const other = '# HELP a Words.\n# TYPE a counter\na{b="z"} 3\n';
  expect(
    mergeMetrics(
      new Map([
        [1, one],
        [2, other],
        [3, undefined],
      ]),
    ),
  ).toBe(
    `${[
      '# HELP a Words.',
      '# TYPE a counter',
      'a{process="1",b="x } y"} 1',
      'a{process="2",b="z"} 3',
      '',
      '# HELP c More.',
      '# TYPE c gauge',
      'c{process="1"} 2',
      '',
      '# HELP abp_process_answered Whether the process was there to tell its numbers.',
      '# TYPE abp_process_answered gauge',
      'abp_process_answered{process="1"} 1',
      'abp_process_answered{process="2"} 1',
      'abp_process_answered{process="3"} 0',
    ].join('\n')}\n`,
  );
});
