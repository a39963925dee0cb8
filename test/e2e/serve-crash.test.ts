import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { ABP_BIN } from '../support/built.ts';
import { call, post, send } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { runAbp } from '../support/run-abp.ts';
import { type ServeProcess, startServe } from '../support/serve.ts';

function homeFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), 'abp-crash-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return join(parent, 'home');
}

const ask = (content: string, stream: boolean): string =>
  JSON.stringify({ model: 'sim-1', max_tokens: 1000, stream, messages: [{ role: 'user', content }] });
const slow = (words: number): string => ask(`wait 50 ms between words and say "${'word '.repeat(words)}"`, true);

/** Calls until the server is gone; the runs whose answer came whole, and all runs that were answered at all. */
async function hammer(server: ServeProcess, whole: string[], begun: string[]): Promise<void> {
  for (let at = 0; ; at += 1) {
    try {
      const answer = await post(`${server.url}/e/sim/v1/messages`, ask(`say "number ${at}"`, at % 2 === 0));
      begun.push(String(answer.headers['x-abp-run-id']));
      if (answer.complete && answer.status === 200) whole.push(String(answer.headers['x-abp-run-id']));
    } catch {
      // The server was killed under the call, as planned.
      return;
    }
  }
}

it('kill -9 under load loses nothing, and a run that it cut is found at the next start: failed, interrupted', async () => {
  const home = homeFolder();
  const first = await startServe(home);
  const cut = await send(`${first.url}/e/sim/v1/messages`, { method: 'POST', body: slow(2000) });
  await once(cut, 'data');
  cut.on('error', () => undefined);
  const whole: string[] = [];
  const begun: string[] = [];
  const load = Array.from({ length: 8 }, () => hammer(first, whole, begun));
  await expect.poll(() => whole.length, { interval: 10, timeout: 60_000 }).toBeGreaterThan(150);
  expect(await first.end('SIGKILL')).toBe('SIGKILL');
  await Promise.all(load);

  const second = await startServe(home);
  const receipt = await receiptOf(second.url, cut.headers['x-abp-run-id']);
  expect(receipt).toMatchObject({ status: 'failed', reason: 'interrupted', engine: 'sim', model: { requested: 'sim-1' } });
  expect(receipt.receipt_sha256).toMatch(/^[0-9a-f]{64}$/);
  const completed: string[] = [];
  for (const run of begun) if ((await receiptOf(second.url, run)).status === 'completed') completed.push(run);
  expect(whole.filter((run) => !completed.includes(run))).toEqual([]);
  const { items } = JSON.parse((await call(`${second.url}/v1/receipts?status=running`)).body.toString());
  expect(items).toEqual([]);
  expect(await second.end('SIGTERM')).toBe(0);
});

it('SIGTERM lets a running stream end, takes no new call, and settles the receipt', async () => {
  const home = homeFolder();
  const server = await startServe(home);
  const response = await send(`${server.url}/e/sim/v1/messages`, { method: 'POST', body: slow(20) });
  const run = response.headers['x-abp-run-id'];
  const chunks: Buffer[] = [];
  response.on('data', (data: Buffer) => chunks.push(data));
  await once(response, 'data');
  const ended = server.end('SIGTERM');
  await once(response, 'end');
  expect(response.complete).toBe(true);
  expect(Buffer.concat(chunks).toString()).toContain('event: message_stop');
  expect(await ended).toBe(0);
  await expect(call(`${server.url}/healthz`)).rejects.toThrow('ECONNREFUSED');
  const again = await startServe(home);
  expect(await receiptOf(again.url, run)).toMatchObject({ status: 'completed', reason: null });
  await again.end('SIGTERM');
});

it('a server of npm start ends with npm, which ends no more than its own shell', async () => {
  const script = '"$1" "$2" serve --json --port 0; exit';
  const env = { PATH: process.env.PATH, ABP_HOME: homeFolder(), ABP_LOG: 'error', npm_lifecycle_event: 'start' };
  const shell = spawn('sh', ['-c', script, 'sh', process.execPath, ABP_BIN], { env, cwd: tmpdir() });
  const [line] = await once(createInterface(shell.stdout), 'line');
  const { url, pid } = JSON.parse(String(line));
  onTestFinished(() => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended, as the test wants it.
    }
  });
  expect((await call(`${url}/healthz`)).status).toBe(200);
  shell.kill('SIGTERM');
  await expect
    .poll(() =>
      call(`${url}/healthz`).then(
        ({ status }) => status,
        (error: Error) => error.message,
      ),
    )
    .toContain('ECONNREFUSED');
});

it('a server that cannot start ends at once, with a reason', async () => {
  const [home, other] = [homeFolder(), homeFolder()];
  const first = await startServe(home);
  const second = await runAbp(['serve', '--port', '0'], { env: { ABP_HOME: home } });
  expect(second).toMatchObject({ code: 1, err: expect.stringContaining('already serves this home') });
  const open = await runAbp(['serve', '--host', '0.0.0.0', '--port', '0'], { env: { ABP_HOME: other } });
  expect(open.code).toBeGreaterThan(0);
  expect(open.err).toContain('Refusing to listen on 0.0.0.0');
  const taken = await runAbp(['serve', '--port', new URL(first.url).port], { env: { ABP_HOME: other } });
  expect(taken).toMatchObject({ code: 1, err: expect.stringContaining('is taken by another program') });
  await first.end('SIGTERM');
});
