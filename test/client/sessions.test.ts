import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AbpClient, type SessionEvent } from '../../src/client/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let server: TestGateway;
let abp: AbpClient;
let agentId: string;

beforeAll(async () => {
  server = await startGateway();
  abp = new AbpClient({ url: server.url, key: server.token });
  const answer = await fetch(`${server.url}/v1/agents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-abp-key': server.token },
    body: JSON.stringify({ name: 'helper', system_prompt: 'You help.', capabilities: ['test_math'] }),
  });
  agentId = ((await answer.json()) as { id: string }).id;
});
afterAll(async () => {
  await abp.close();
  await server.close();
});

describe('a session through AbpClient', () => {
  it('answers, tells its pieces, and has a receipt', async () => {
    const session = await abp.createSession({ agentId, title: 'first', tags: ['shop'] });
    const pieces: string[] = [];
    const turn = await session.ask('Say exactly: all is well', { onDelta: (text) => pieces.push(text) });
    expect(turn).toMatchObject({ status: 'completed', text: 'all is well' });
    expect(pieces.join('')).toBe('all is well');
    expect(await abp.getReceipt(turn.runId)).toMatchObject({ status: 'completed', plane: 'agent' });
    expect(await session.view()).toMatchObject({ id: session.id, agentId, title: 'first', tags: ['shop'], status: 'idle', turnId: null });
    expect((await session.messages()).map(({ role, runId }) => [role, runId])).toEqual([
      ['user', turn.runId],
      ['agent', turn.runId],
    ]);
    expect((await abp.listSessions({ agentId, tag: 'shop' })).items.map(({ id }) => id)).toEqual([session.id]);
  });

  it('says why a turn failed', async () => {
    const session = await abp.createSession({ agentId });
    const turn = await session.ask('Fail with 400.');
    expect(turn).toMatchObject({ status: 'failed', error: { code: expect.any(String), message: expect.stringContaining('400') } });
  });

  it('goes on after the last event when the connection breaks: none is lost and none comes twice', async () => {
    let broken = 0;
    /** Cuts the first streams of events after a few hundred bytes. */
    const proxy = createServer((incoming, outgoing) => {
      const { method, url = '', headers } = incoming;
      const inner = ask(`${server.url}${url}`, { method, headers: { ...headers, host: new URL(server.url).host } }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
        if (!url.endsWith('/events') || broken >= 3) return void answer.pipe(outgoing);
        answer.once('data', (chunk: Buffer) => {
          outgoing.write(chunk);
          broken += 1;
          setImmediate(() => outgoing.destroy());
        });
      });
      incoming.pipe(inner);
      outgoing.on('close', () => inner.destroy());
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => proxy.once('listening', resolve));
    // A TCP server has an address object; only pipes have a string.
    const far = new AbpClient({ url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, key: server.token });
    try {
      const session = await far.createSession({ agentId });
      await abp.session(session.id).ask('Say exactly: one');
      const seen: SessionEvent[] = [];
      for await (const event of session.events()) {
        if (event.sequence !== undefined) seen.push(event);
        if (event.type === 'session.idled') break;
      }
      expect(broken).toBe(3);
      expect(seen.map(({ sequence }) => sequence)).toEqual(seen.map((_, at) => at + 1));
    } finally {
      await far.close();
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  it('is cancelled, forked and deleted', async () => {
    const session = await abp.createSession({ agentId });
    await session.send('Wait 60 seconds.');
    await session.cancel('enough');
    await expect.poll(async () => (await session.view()).status).toBe('idle');
    const fork = await session.fork({ title: 'again' });
    expect(await fork.view()).toMatchObject({ title: 'again', agentId });
    await session.delete();
    await expect(session.view()).rejects.toMatchObject({ code: 'not_found' });
  });
});

it('usage is added up by group', async () => {
  await server.gateway.keeper.settled();
  const { groups, buckets } = await abp.usage({ groupBy: ['engine'], since: new Date(Date.now() - 3_600_000).toISOString() });
  expect(buckets).toHaveLength(1);
  expect(groups).toEqual([expect.objectContaining({ key: { engine: 'sim' } })]);
  const [sim] = groups;
  expect(sim?.runs[0]).toBeGreaterThan(1);
  expect(sim?.failed[0]).toBeGreaterThan(0);
  expect(sim?.tokensIn[0]).toBeGreaterThan(0);
  expect(sim?.totalMs.p50).toHaveLength(1);
});

it('runs are followed as they end, and from where a reader left', async () => {
  const call = (text: string): Promise<unknown> =>
    fetch(`${server.url}/e/sim:claude/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-abp-key': server.token, 'x-abp-tags': 'followed' },
      body: JSON.stringify({ model: 'sim-1', messages: [{ role: 'user', content: text }] }),
    });
  const lines = abp.followRuns({ tag: 'followed', status: 'completed' });
  const first = lines.next();
  // The stream tells nothing of runs that ended before it was open.
  const calls = setInterval(() => void call('first'), 50);
  const { value: seen } = await first;
  clearInterval(calls);
  expect(seen).toMatchObject({ event: 'ended', engine: 'sim', upstreamModel: 'sim-1', tokens: { cacheRead: 0 }, costNanoUsd: null });
  await lines.return(undefined);
  await call('second');
  for await (const line of abp.followRuns({ tag: 'followed', after: seen?.id ?? '' })) {
    expect(line.runId).not.toBe(seen?.runId);
    break;
  }
});
