import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserMissing, startBrowser } from '../support/browser.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call } from '../support/http-call.ts';
import { needing } from '../support/needs.ts';

const missing = await browserMissing();
const script = readFileSync(new URL('./fixtures/attempts.js', import.meta.url), 'utf8');
let server: TestGateway;
let site: Server;
let browser: Browser;

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
    const page = await browser.newPage();
    await page.goto(`http://${host}:${address.port}/`);
    return page;
  }

  /** Whatever a call could have left behind. */
  async function traces(): Promise<unknown[]> {
    const lists = ['/v1/receipts', '/v1/keys'].map(async (path) => {
      const { body } = await call(`${server.url}${path}?limit=1000`, { headers: ['authorization', `Bearer ${server.token}`] });
      return JSON.parse(body.toString()).items.length;
    });
    return [...(await Promise.all(lists)), server.gateway.live.count];
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
      const context = await browser.newContext();
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

  it('our own pages work in the same browser', async () => {
    const page = await browser.newPage();
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
