import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { type ConsoleStage, startConsole } from '../support/console.ts';
import { fillRuns } from '../support/many-runs.ts';
import { needing } from '../support/needs.ts';

/** The budgets of a list that has everything: see the table of performance in the design of the console. */
const MANY = 100_000;
const MOST_FIRST_PAINT_MS = 1000;
const MOST_KEY_MS = 100;
const MOST_NODES = 60;
const LIVE_PER_SECOND = 50;
const LIVE_SECONDS = 8;
/** A frame is lost where the page stands still for longer than this; the share of such frames that is still called fluid. */
const FRAME_MS = 50;
const MOST_LOST = 0.05;

let stage: ConsoleStage;
const missing = await browserMissing();

const ROWS = '.dl-body .dl-row';

/** From the beginning of the navigation until rows are on the screen, as the page itself sees it. */
const FIRST_ROWS = `new Promise((resolve) => {
  const look = () => document.querySelector('${ROWS}') === null ? requestAnimationFrame(look) : requestAnimationFrame(() => resolve(performance.now()));
  look();
})`;

interface Took {
  readonly best: number;
  readonly median: number;
}

/** Times in milliseconds. The best one is what the page needs by itself; the rule is held by the one in the middle, on a machine without other work. */
async function measured(times: number, measure: () => Promise<number>): Promise<Took> {
  const all: number[] = [];
  for (let round = 0; round < times; round += 1) all.push(await measure());
  const sorted = all.toSorted((a, b) => a - b);
  return { best: sorted[0] ?? Number.NaN, median: sorted[Math.floor(times / 2)] ?? Number.NaN };
}

const inWords = ({ best, median }: Took): string => `${median.toFixed(0)} ms in the middle, ${best.toFixed(0)} ms at best`;

async function scrollTo(page: Page, top: number): Promise<void> {
  await page.evaluate(`document.querySelector('.dl-body').scrollTo({ top: ${top} })`);
}

/** Milliseconds from a key to the first frame in which the peek shows another run. */
async function keyToPicture(page: Page): Promise<number> {
  await page.evaluate(`
    window.pictured = new Promise((resolve) => {
      window.addEventListener('keydown', (event) => {
        const before = document.querySelector('.peek .h .s code')?.textContent;
        const look = () => document.querySelector('.peek .h .s code')?.textContent === before ? requestAnimationFrame(look) : requestAnimationFrame(() => resolve(performance.now() - event.timeStamp));
        look();
      }, { once: true, capture: true });
    });
    undefined`);
  await page.keyboard.press('j');
  return await page.evaluate('window.pictured');
}

describe.skipIf(missing !== undefined)(needing('the console with 100,000 runs', missing), () => {
  beforeAll(async () => {
    stage = await startConsole();
    await fillRuns(stage.server, MANY);
  }, 600_000);
  afterAll(() => stage?.close());

  it('its receipts verify, so that they are those of real runs', async () => {
    const { url, token } = stage.server;
    const head = (await (await fetch(`${url}/v1/receipts/head`)).json()) as { sequence: number };
    expect(head.sequence).toBe(MANY);
    const headers = { 'x-abp-key': token };
    const verified = await (await fetch(`${url}/v1/receipts/verify?from=1&to=2000`, { headers })).json();
    expect(verified).toMatchObject({ ok: true, problem_count: 0 });
  });

  it('Runs shows its first rows within a second', async () => {
    const { page, context } = await stage.signedIn();
    const took = await measured(9, async () => {
      await page.goto(`${stage.server.url}/runs`);
      return await page.evaluate(FIRST_ROWS);
    });
    console.log(`first rows of ${MANY} runs: ${inWords(took)}`);
    expect(took.median).toBeLessThan(MOST_FIRST_PAINT_MS);
    await context.close();
  });

  it('a key is answered by a picture within 100 ms', async () => {
    const { page, context, open } = await stage.signedIn();
    await open('/runs');
    await page.locator(ROWS).first().click();
    await page.locator('.peek').waitFor();
    const took = await measured(21, () => keyToPicture(page));
    console.log(`key to picture: ${inWords(took)}`);
    expect(took.median).toBeLessThan(MOST_KEY_MS);
    await context.close();
  });

  it('a list of thousands has few nodes wherever it stands, and lets go of pages behind it', async () => {
    const { page, context, open } = await stage.signedIn();
    await open('/runs');
    const counted = async (): Promise<number> => Number(await page.locator('.data-list').getAttribute('aria-rowcount'));
    await expect
      .poll(async () => {
        await scrollTo(page, 1e9);
        return await counted();
      })
      .toBeGreaterThan(3000);
    expect(await page.locator(ROWS).count()).toBeLessThanOrEqual(MOST_NODES);
    expect(await counted()).toBeLessThanOrEqual(5002);
    await context.close();
  });

  it('every view and filter answers', async () => {
    const { page, context, complaints, open } = await stage.signedIn();
    for (const search of [
      'status=failed',
      'fate=refused',
      'fate=dropped',
      'plane=run',
      'min_cost_nano_usd=100000000',
      'q=overloaded',
      'engine=gemini&mode=mapped',
      'span=86400000',
    ]) {
      await open(`/runs?${search}`);
      await page.locator(`${ROWS}, .empty`).first().waitFor();
    }
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('fifty runs a second come in without losing frames, and a scrolled list holds still', async () => {
    const { page, context, open } = await stage.signedIn();
    await open('/runs');
    await page.locator(ROWS).first().waitFor();
    await page.evaluate(`
      window.frames50 = [];
      let last = performance.now();
      const tick = (now) => { window.frames50.push(now - last); last = now; requestAnimationFrame(tick); };
      requestAnimationFrame(tick);`);
    for (let second = 0; second < LIVE_SECONDS; second += 1) {
      const began = performance.now();
      await fillRuns(stage.server, LIVE_PER_SECOND, 1000);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, 1000 - (performance.now() - began))));
    }
    const first = (): Promise<string | null> => page.locator('.dl-body .c-id').first().getAttribute('title');
    const newest = (await (await fetch(`${stage.server.url}/v1/runs?view=row&limit=1`)).json()) as { items: { run_id: string }[] };
    await expect.poll(first).toBe(newest.items[0]?.run_id);
    const frames: number[] = await page.evaluate('window.frames50');
    const lost = frames.filter((ms) => ms > FRAME_MS).length / frames.length;
    console.log(
      `${frames.length} frames in ${LIVE_SECONDS} s of ${LIVE_PER_SECOND} runs/s, ${(lost * 100).toFixed(1)} % longer than ${FRAME_MS} ms`,
    );
    expect(lost).toBeLessThan(MOST_LOST);
    await scrollTo(page, 2000);
    const row = page.locator('.dl-body .dl-row[aria-rowindex="80"] .c-id');
    const held = await row.getAttribute('title');
    await fillRuns(stage.server, LIVE_PER_SECOND, 1000);
    await page.getByRole('button', { name: /newer/ }).waitFor();
    expect(await row.getAttribute('title')).toBe(held);
    await context.close();
  });
});
