import type { CDPSession } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { type ConsoleStage, startConsole, type Visitor } from '../support/console.ts';
import { needing } from '../support/needs.ts';

const missing = await browserMissing();
/** Seconds of live runs; `ABP_LONG_DAY_S=600` makes the figures of docs/console.md. */
const SECONDS = Number(process.env.ABP_LONG_DAY_S ?? 40);
const A_SECOND = 50;
/** Of a page that has been open all day (docs/console.md). */
const MOST_BYTES = 150e6;

describe.skipIf(missing !== undefined)(needing('a console that stays open', missing), () => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await startConsole();
  });
  afterAll(() => stage?.close());

  /** Fifty runs in every second, whatever each of them takes. */
  async function liveRuns(seconds: number): Promise<number> {
    const body = JSON.stringify({ model: 'any-name', max_tokens: 20, messages: [{ role: 'user', content: 'Say exactly: "hi"' }] });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const calls: Promise<unknown>[] = [];
    for (let second = 0; second < seconds; second += 1) {
      const next = new Promise((resolve) => setTimeout(resolve, 1000));
      for (let left = A_SECOND; left > 0; left -= 1)
        calls.push(fetch(`${stage.server.url}/e/sim/v1/messages`, init).then((answer) => answer.arrayBuffer()));
      await next;
      await Promise.all(calls.splice(0));
    }
    return seconds * A_SECOND;
  }

  interface Held {
    readonly bytes: number;
    readonly nodes: number;
    readonly listeners: number;
  }

  /** The page's memory after its rubbish was taken away. */
  async function held(devtools: CDPSession): Promise<Held> {
    for (let round = 0; round < 3; round += 1) await devtools.send('HeapProfiler.collectGarbage');
    const { usedSize } = await devtools.send('Runtime.getHeapUsage');
    const { nodes, jsEventListeners } = await devtools.send('Memory.getDOMCounters');
    return { bytes: usedSize, nodes, listeners: jsEventListeners };
  }

  it.each(['/runs', '/'])('keeps its memory on %s while runs come all day', { timeout: (SECONDS * 4 + 120) * 1000 }, async (path) => {
    const visitor: Visitor = await stage.signedIn();
    await visitor.open(path);
    await liveRuns(5);
    const devtools = await visitor.context.newCDPSession(visitor.page);
    const before = await held(devtools);
    let asked = 0;
    visitor.page.on('request', (request) => {
      asked += request.resourceType() === 'fetch' ? 1 : 0;
    });
    const began = performance.now();
    const runs = await liveRuns(SECONDS);
    const tookS = (performance.now() - began) / 1000;
    const after = await held(devtools);
    process.stdout.write(`${path} ${SECONDS} s, ${runs} runs: ${JSON.stringify({ before, after })}\n`);
    // Not a question for every run: at most four a second, and those that a page asks by itself now and then.
    expect(asked).toBeLessThan(tookS * 8 + 60);
    expect(after.bytes).toBeLessThan(MOST_BYTES);
    // Rows are kept up to a bound; what grows beyond those is lost by somebody.
    expect(after.bytes - before.bytes).toBeLessThan(25e6);
    expect(after.nodes).toBeLessThan(before.nodes * 2 + 500);
    expect(after.listeners).toBeLessThan(before.listeners * 2 + 100);
    expect(visitor.complaints).toEqual([]);
    await visitor.context.close();
  });

  it('counts what came while somebody read further down, without keeping all of it, and shows the newest when asked', async () => {
    await liveRuns(4);
    const { page, context, open, complaints } = await stage.signedIn();
    await open('/runs');
    await page.locator('.dl-body').hover();
    await page.mouse.wheel(0, 600);
    const runs = await liveRuns(24);
    const pill = page.getByRole('button', { name: /newer$/ });
    await expect.poll(async () => Number.parseInt((await pill.textContent()) ?? '', 10)).toBe(runs);
    await pill.click();
    const newest = ((await (await fetch(`${stage.server.url}/v1/runs?view=row&limit=1`)).json()) as { items: { run_id: string }[] })
      .items[0];
    await page
      .locator('.dl-body .dl-row')
      .first()
      .getByText(newest?.run_id.slice(-6) ?? '')
      .waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});
