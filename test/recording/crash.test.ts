import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { call, post, send } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { type ServeProcess, startServe } from '../support/serve.ts';

function homeFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), 'abp-bodies-crash-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return join(parent, 'home');
}

const ask = (content: string, stream: boolean): string =>
  JSON.stringify({ model: 'sim-1', max_tokens: 5000, stream, messages: [{ role: 'user', content }] });

interface Stream {
  readonly run: string;
  readonly request: string;
  readonly received: Buffer[];
}

async function slowStream(server: ServeProcess, at: number): Promise<Stream> {
  const request = ask(`wait 40 ms between words and say "${`word${at} `.repeat(400)}"`, true);
  const response = await send(`${server.url}/e/sim/v1/messages`, { method: 'POST', body: request });
  const received: Buffer[] = [];
  response.on('data', (data: Buffer) => received.push(data));
  // The server is killed under it, as planned.
  response.on('error', () => undefined);
  await once(response, 'data');
  return { run: String(response.headers['x-abp-run-id']), request, received };
}

it.each([1, 2])('kill -9 keeps the bodies of ended runs, and all but the last second of running ones, round %i', async (round) => {
  const home = homeFolder();
  const first = await startServe(home);
  const streams = await Promise.all(Array.from({ length: 20 }, (_, at) => slowStream(first, at)));
  const started = performance.now();
  const ended: { run: string; request: string; answer: Buffer }[] = [];
  while (performance.now() - started < 2500 + 400 * round) {
    const request = ask(`say "number ${ended.length}"`, ended.length % 2 === 0);
    const answer = await post(`${first.url}/e/sim/v1/messages`, request);
    ended.push({ run: String(answer.headers['x-abp-run-id']), request, answer: answer.body });
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  await first.end('SIGKILL');
  const second = await startServe(home);
  const bodyOf = async (run: string, which: string): Promise<Buffer> => (await call(`${second.url}/v1/receipts/${run}/${which}`)).body;
  for (const { run, request, answer } of ended) {
    expect(await receiptOf(second.url, run)).toMatchObject({ status: 'completed', replayable: true });
    expect((await bodyOf(run, 'request')).toString()).toBe(request);
    expect((await bodyOf(run, 'response')).equals(answer)).toBe(true);
  }
  for (const { run, request, received } of streams) {
    const receipt = await receiptOf(second.url, run);
    const recorded = await bodyOf(run, 'response');
    const seen = Buffer.concat(received);
    expect((await bodyOf(run, 'request')).toString()).toBe(request);
    // What is recorded is a beginning of what the caller saw, and short of it by no more than a second and a half.
    expect(seen.subarray(0, recorded.length).equals(recorded)).toBe(true);
    expect(recorded.length).toBeGreaterThan(seen.length * 0.3);
    expect(receipt).toMatchObject({
      status: 'failed',
      reason: 'interrupted',
      replayable: false,
      response: { status: 200, bytes: recorded.length },
      event_count: recorded.toString().split('\n\n').length - 1,
    });
  }
  expect(await second.end('SIGTERM')).toBe(0);
});
