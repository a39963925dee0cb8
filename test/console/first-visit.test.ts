import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { type ConsoleStage, makeRuns, startConsole, visit } from '../support/console.ts';
import { needing } from '../support/needs.ts';

/** Letters, figures and signs that every face of the console has. */
const LATIN = /^[\x20-\x7e]+$/;
const REGULAR = /-400-normal/;

const missing = await browserMissing();
let stage: ConsoleStage;

/** Every text in Latin letters with the typeface that the page draws it in. */
async function facesOf(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  await session.send('DOM.enable');
  await session.send('CSS.enable');
  const { root } = await session.send('DOM.getDocument', { depth: -1 });
  const { nodeIds } = await session.send('DOM.querySelectorAll', {
    nodeId: root.nodeId,
    selector: 'b, strong, h1, h2, th, td, span, a, button',
  });
  const texts: string[] = await page.evaluate(
    `[...document.querySelectorAll('b, strong, h1, h2, th, td, span, a, button')].map((element) => element.children.length === 0 ? element.textContent : '')`,
  );
  const found: string[] = [];
  for (const [index, nodeId] of nodeIds.entries()) {
    const text = texts[index] ?? '';
    if (!LATIN.test(text)) continue;
    const { fonts } = await session.send('CSS.getPlatformFontsForNode', { nodeId });
    found.push(...fonts.map(({ familyName }) => `${familyName}: ${text}`));
  }
  return found;
}

const inOther = (faces: readonly string[]): string[] => faces.filter((face) => !face.startsWith('IBM Plex'));

describe.skipIf(missing !== undefined)(needing('the first visit of a browser', missing), () => {
  beforeAll(async () => {
    stage = await startConsole();
    await makeRuns(stage.server, 4);
  }, 180_000);
  afterAll(() => stage?.close());

  it('draws no text in a face of the system where the bold faces are late, and in the bold ones once they are there', async () => {
    const { page, context } = await visit(stage.browser, stage.server.url);
    const late: Route[] = [];
    await context.route(/\.woff2$/, async (route) => {
      if (REGULAR.test(route.request().url())) await route.continue();
      else late.push(route);
    });
    await page.goto(`${stage.server.url}/runs`);
    await page.locator('.dl-body .dl-row').first().waitFor();
    await page.evaluate(
      'document.fonts.load("400 13px \\"IBM Plex Sans\\"").then(() => document.fonts.load("400 12px \\"IBM Plex Mono\\""))',
    );
    expect(late.length).toBeGreaterThan(0);
    expect(inOther(await facesOf(page))).toEqual([]);
    for (const route of late) await route.continue();
    await page.evaluate('document.fonts.ready.then(() => undefined)');
    await page.waitForFunction(`[...document.fonts].some(({ weight, status }) => weight === '600' && status === 'loaded')`);
    const faces = await facesOf(page);
    expect(inOther(faces)).toEqual([]);
    expect(faces.some((face) => face.startsWith('IBM Plex Sans SemiBold: '))).toBe(true);
    await context.close();
  });

  it('asks for what the first page shows, and has its theme, before the application is there', async () => {
    const { page, context } = await visit(stage.browser, stage.server.url, { theme: 'light' });
    const held: Route[] = [];
    await context.addInitScript(`localStorage.setItem('abp.theme', 'dark')`);
    await context.route(/assets\/index-[\w-]+\.js$/, (route) => {
      held.push(route);
    });
    const asked = page.waitForRequest((request) => request.url().includes('/v1/runs?view=row'));
    await page.goto(`${stage.server.url}/runs`, { waitUntil: 'commit' });
    await asked;
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    expect(await page.locator('h1').count()).toBe(0);
    await expect.poll(() => held.length).toBe(1);
    for (const route of held) await route.continue();
    await page.locator('.dl-body .dl-row').first().waitFor();
    await context.close();
  });
});
