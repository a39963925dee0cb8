import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserMissing, patient, startBrowser } from '../support/browser.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call } from '../support/http-call.ts';
import { needing } from '../support/needs.ts';

const missing = await browserMissing();
const script = readFileSync(new URL('./fixtures/attempts.js', import.meta.url), 'utf8');
let server: TestGateway;
let site: Server;
let browser: Browser;

/** Runs in a page: calls an engine, and hears of the receipt. */
async function tellingPage({ base, secret }: { base: string; secret: string }) {
  const headers = { 'x-abp-key': secret, 'content-type': 'application/json' };
  const ticketFor = async (path: string): Promise<string> => {
    const answer = await fetch(`${base}/v1/tickets`, { method: 'POST', headers, body: JSON.stringify({ path }) });
    const given = (await answer.json()) as { ticket: string }; // as the API describes it
    return given.ticket;
  };
  const address = `${base}/v1/receipts/stream?ticket=${await ticketFor('/v1/receipts/stream')}`;
  const source = new EventSource(address);
  await new Promise((resolve, reject) => {
    source.addEventListener('open', resolve);
    source.addEventListener('error', reject);
  });
  const heard = new Promise<string>((resolve) => {
    source.addEventListener('receipt', (event) => resolve(JSON.parse((event as MessageEvent).data).run_id)); // an event of a stream has data
  });
  const body = JSON.stringify({ model: 'sim-1', max_tokens: 50, messages: [{ role: 'user', content: 'hello' }] });
  const answer = await fetch(`${base}/e/sim/v1/messages`, { method: 'POST', headers, body });
  const result = { status: answer.status, runId: answer.headers.get('x-abp-run-id'), heard: await heard };
  source.close();
  const second = new EventSource(address);
  const again = await new Promise((resolve) => {
    second.addEventListener('open', () => resolve('opened'));
    second.addEventListener('error', () => resolve('refused'));
  });
  second.close();
  const refused = (await fetch(`${base}/v1/receipts`)).status;
  const refusedTicket = (await fetch(`${base}/v1/receipts?ticket=${'x'.repeat(32)}`)).status;
  return { ...result, again, refused, refusedTicket };
}

describe.skipIf(missing !== undefined)(needing('a browser', missing), () => {
  beforeAll(async () => {
    server = await startGateway();
    site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<!doctype html><title>another site</title><body><script>${script}</script></body>`);
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
    await server?.close();
  });

  /** The page of somebody else, under a name of ours or of its own. */
  async function pageAt(host: string): Promise<Page> {
    const address = site.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const page = patient(await browser.newPage());
    await page.goto(`http://${host}:${address.port}/`);
    return page;
  }

  /** Whatever a call could have left behind. */
  async function traces(): Promise<unknown[]> {
    const lists = ['/v1/receipts', '/v1/keys'].map(async (path) => {
      const { body } = await call(`${server.url}${path}?limit=1000`, { headers: ['authorization', `Bearer ${server.token}`] });
      return JSON.parse(body.toString()).items.length;
    });
    return [...(await Promise.all(lists)), server.gateway.calls.live.count];
  }

  describe('a page of another site', () => {
    // `localhost` is another site than 127.0.0.1, another port of 127.0.0.1 the same site but another origin.
    it.each(['127.0.0.1', 'localhost'])('at %s can start nothing and read nothing', async (host) => {
      const before = await traces();
      const page = await pageAt(host);
      for (const base of [server.url, server.url.replace('127.0.0.1', 'localhost')]) {
        const results: Record<string, string> = await page.evaluate(`attempts(${JSON.stringify(base)})`);
        const readable = Object.entries(results).filter(([, result]) => result !== 'blocked' && result !== 'opaque 0 ');
        expect(readable).toEqual([]);
        expect(Object.keys(results)).toHaveLength(15);
      }
      await page.close();
      expect(await traces()).toEqual(before);
    });

    it('that is rebound to our address can start nothing and read nothing', async () => {
      const before = await traces();
      const context = patient(await browser.newContext());
      const page = await context.newPage();
      // The name of an attacker that resolves to us: the browser takes the gateway for the page's own origin.
      const { port } = new URL(server.url);
      const response = await page.goto(`http://rebound.localhost:${port}/healthz`);
      expect(response?.status()).toBe(421);
      const own = await page.evaluate(async () => {
        const answer = await fetch('/e/sim/v1/messages', { method: 'POST', body: '{"model":"m","max_tokens":5,"messages":[]}' });
        return `${answer.status} ${await answer.text()}`;
      });
      expect(own).toMatch(/^421 .*misdirected_request/);
      await context.close();
      expect(await traces()).toEqual(before);
    });
  });

  it('a page whose origin the operator allows does start a run, so the attempts are real', async () => {
    const page = await pageAt('127.0.0.1');
    const allowing = await startGateway({ config: { server: { origins: [new URL(page.url()).origin] } } });
    await page.evaluate(`attemptsAt(${JSON.stringify(allowing.url)}).noCors()`);
    const receipts = async (): Promise<object[]> => JSON.parse((await call(`${allowing.url}/v1/receipts`)).body.toString()).items;
    await expect.poll(receipts, { timeout: 60_000 }).toMatchObject([{ engine: 'sim' }]);
    await page.close();
    await allowing.close();
  });

  it('a page of an allowed origin calls by fetch and listens by EventSource with a ticket, without a key in an address', async () => {
    const page = await pageAt('localhost');
    const config = { server: { origins: [new URL(page.url()).origin] }, auth: { local: false } };
    const allowing = await startGateway({ config });
    const made = await call(`${allowing.url}/v1/keys`, {
      method: 'POST',
      headers: ['authorization', `Bearer ${allowing.token}`, 'content-type', 'application/json'],
      body: JSON.stringify({ name: 'page', scopes: { planes: ['gateway'] } }),
    });
    const { secret } = JSON.parse(made.body.toString());
    const told = await page.evaluate(tellingPage, { base: allowing.url, secret });
    expect(told).toMatchObject({ status: 200, runId: expect.stringMatching(/^run_/), refused: 401, refusedTicket: 401, again: 'refused' });
    expect(told.heard).toBe(told.runId);
    expect(allowing.logs()).not.toContain('ticket=');
    await page.close();
    await allowing.close();
  });

  it('our own pages work in the same browser', async () => {
    const page = patient(await browser.newPage());
    const response = await page.goto(`${server.url}/`);
    expect(response?.status()).toBe(200);
    expect(await page.title()).toBe('Agent Backplane');
    const health = await page.goto(`${server.url}/healthz`);
    expect(await health?.json()).toMatchObject({ status: 'ok' });
    const same = await page.evaluate(async () => (await fetch('/healthz')).status);
    expect(same).toBe(200);
    await page.close();
  });
});
