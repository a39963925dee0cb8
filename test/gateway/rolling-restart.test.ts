import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, send } from '../support/http-call.ts';

const request = (words: string, stream = false) => ({
  method: 'POST',
  headers: ['content-type', 'application/json'],
  body: JSON.stringify({ model: 'm', max_tokens: 50, stream, messages: [{ role: 'user', content: words }] }),
});

function folder(name: string): string {
  const made = mkdtempSync(join(tmpdir(), `abp-rolling-${name}-`));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return join(made, 'home');
}

test('nodes are restarted one after the other, and a client that tries once more sees no error', async () => {
  const homes = [folder('a'), folder('b')];
  const nodes = await Promise.all(homes.map((home) => startGateway({ home })));
  onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.close()))));
  let over = false;
  const served: string[] = [];
  const failures: unknown[] = [];
  /** Asks one node, and the other where that one does not answer. */
  const ask = async (at: number): Promise<void> => {
    for (const turn of [0, 1]) {
      const node = nodes[(at + turn) % nodes.length] as TestGateway; // there are two
      try {
        const { status, complete, headers } = await call(`${node.url}/e/sim/v1/messages`, request(`call ${at}`));
        if (status !== 200 || !complete) throw new Error(`status ${status}`);
        served.push(String(headers['x-abp-run-id']));
        return;
      } catch (error) {
        if (turn === 1) failures.push(error);
      }
    }
  };
  const client = async (first: number): Promise<void> => {
    for (let at = first; !over; at += 1) await ask(at);
  };
  const clients = [0, 1, 2, 3].map(client);
  for (const [at, home] of homes.entries()) {
    const before = served.length;
    await expect.poll(() => served.length).toBeGreaterThan(before + 10);
    await nodes[at]?.close();
    nodes[at] = await startGateway({ home });
  }
  const before = served.length;
  await expect.poll(() => served.length).toBeGreaterThan(before + 10);
  over = true;
  await Promise.all(clients);
  expect(failures).toEqual([]);
  expect(new Set(served).size).toBe(served.length);
});

test('a stream under way comes to its end while its server stops, and no new call is taken', async () => {
  const node = await startGateway();
  const stream = await send(`${node.url}/e/sim/v1/messages`, request('Wait 300 ms. Say "done".', true));
  const closed = node.close();
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  expect(text).toContain('message_stop');
  await closed;
  await expect(call(`${node.url}/e/sim/v1/messages`, request('more'))).rejects.toThrow();
});
