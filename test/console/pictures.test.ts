import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { seriousFaults } from '../support/console.ts';
import { openShop } from '../support/console-shop.ts';
import { type ConsoleWorld, makeTraffic, startWorld } from '../support/console-world.ts';
import { layoutFaults } from '../support/layout-faults.ts';
import { fillRuns } from '../support/many-runs.ts';
import { needing } from '../support/needs.ts';

const PICTURES = join(import.meta.dirname, '..', '..', 'docs', 'screenshots');
const MOST_BYTES = 200_000;
/** Pages with much on them stay below the limit only where less of them is shown. */
const HEIGHTS: Readonly<Record<string, number>> = { runs: 720, home: 800 };
const HEIGHT = 900;
const PATIENCE = { timeout: 60_000, interval: 100 };
const missing = await browserMissing();

let world: ConsoleWorld;
let shots: readonly (readonly [string, string])[] = [];

const VARIANTS = [
  ['light', 1440],
  ['dark', 1440],
  ['light', 390],
  ['dark', 390],
] as const;

/** The pages with a picture of their own, by their address. */
async function pagesOf(shop: Awaited<ReturnType<typeof openShop>>): Promise<readonly (readonly [string, string])[]> {
  const { items } = await world.admin<{
    items: { run_id: string; mode: string; error: object | null; plane: string; status: string; tags: string[]; engine: string }[];
  }>('GET', '/v1/runs?view=row&limit=200');
  const find = (test: (row: (typeof items)[number]) => boolean): string => items.find(test)?.run_id ?? expect.fail('the run is missing');
  const passed = items
    .filter(
      ({ mode, error, engine, tags }) =>
        mode === 'passthrough' && error === null && engine === 'claude' && !tags.some((tag) => tag.startsWith('session:')),
    )
    .map(({ run_id }) => run_id);
  return [
    ['home', '/'],
    ['runs', `/runs?sel=${find(({ mode, error, tags }) => mode === 'mapped' && error === null && tags.includes('project:clerk'))}`],
    ['run', `/runs/${find(({ mode, error, tags }) => mode === 'mapped' && error === null && tags.includes('project:clerk'))}`],
    ['run-passed', `/runs/${find(({ mode, error }) => mode === 'passthrough' && error === null)}`],
    ['run-refused', `/runs/${find(({ mode, error }) => mode === 'mapped' && error !== null)}`],
    ['run-coding', `/runs/${find(({ plane, status }) => plane === 'run' && status === 'running')}`],
    ['run-coding-ended', `/runs/${find(({ plane, status }) => plane === 'run' && status === 'completed')}`],
    ['compare', `/runs/${passed[0]}/vs/${passed[1]}`],
    ['playground', '/playground?to=gemini'],
    ['playground-refused', '/playground?to=sim:openai-chat'],
    ['matrix', '/matrix?row=engine:gemini&col=extended_thinking'],
    ['models', '/matrix?kind=models'],
    ['agents', `/agents/${shop.agent}/sessions/${shop.session}`],
    ['agents-new', '/agents?new=true'],
    ['coding', '/coding'],
    ['inbox', '/inbox'],
    ['usage', '/usage?span=2592000000'],
    ['settings-engines', '/settings/engines'],
    ['settings-routes', '/settings/routes'],
    ['settings-keys', '/settings/keys'],
    ['settings-people', '/settings/people'],
    ['settings-budgets', '/settings/budgets'],
    ['settings-trust', '/settings/trust'],
  ];
}

/** Waits for what a page shows last. */
async function settled(page: Page, name: string): Promise<void> {
  if (name === 'run') await page.getByText('Sealed and checked').waitFor();
  if (name === 'usage') await page.locator('canvas').first().waitFor();
  if (name === 'playground') {
    await page.getByRole('button', { name: /^Send/ }).click();
    await page.getByRole('button', { name: 'Go on' }).waitFor({ state: 'attached' });
  }
  if (name === 'agents') await page.getByText('Yes, please do that.').waitFor();
  if (name === 'compare') await page.locator('.side-by-side mark').first().waitFor();
  if (name === 'run') await page.getByText('generationConfig.maxOutputTokens').waitFor();
  if (name === 'run-coding') await page.getByRole('log').locator('.box').first().waitFor();
}

describe.skipIf(missing !== undefined)(needing('pictures of the console', missing), () => {
  beforeAll(async () => {
    world = await startWorld();
    await fillRuns(world.server, 4000);
    await fillRuns(world.server, 1500, 3_540_000, { waves: 3, tokens: 1500 });
    const shop = await openShop(world);
    await makeTraffic(world, 10);
    const done = await world.run('Make the queue claim in one transaction', { approvalMode: 'yolo' });
    await vi.waitFor(async () => expect(await world.admin('GET', `/v1/runs/${done}`)).toMatchObject({ status: 'completed' }), PATIENCE);
    await world.run('Fix the flaky queue test', { maxBudgetUsd: 0.5, enforcement: 'advisory' });
    await world.run('Move the lease table to its own migration', { maxBudgetUsd: 2, enforcement: 'advisory', thinkingEffort: 'high' });
    await vi.waitFor(async () => expect(await world.admin('GET', '/v1/interactions')).toMatchObject({ total: 3 }), PATIENCE);
    mkdirSync(PICTURES, { recursive: true });
    shots = await pagesOf(shop);
  }, 300_000);
  afterAll(() => world?.close());

  it.each(VARIANTS)(
    'every page in %s at %i is drawn without a complaint, in less than 200 kB',
    async (theme, width) => {
      const { page, context, complaints, open } = await world.signedIn({ theme, width });
      const faults: string[] = [];
      for (const [name, path] of shots) {
        if (width > 720) await page.setViewportSize({ width, height: HEIGHTS[name] ?? HEIGHT });
        await open(path);
        await settled(page, name);
        const file = join(PICTURES, `${name}-${theme}${width < 720 ? '-phone' : ''}.png`);
        await page.screenshot({ path: file });
        const size = statSync(file).size;
        if (size > MOST_BYTES) faults.push(`${name}: ${size} bytes`);
        faults.push(...(await seriousFaults(page)).map((fault) => `${name}: ${fault}`));
      }
      expect([...faults, ...complaints]).toEqual([]);
      await context.close();
    },
    600_000,
  );

  it.each(['deuteranopia', 'protanopia', 'tritanopia'] as const)('what colour says can be told without it, seen with %s', async (type) => {
    const { page, context, open } = await world.signedIn();
    await page.setViewportSize({ width: 1440, height: 720 });
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setEmulatedVisionDeficiency', { type });
    await open(shots.find(([name]) => name === 'runs')?.[1] ?? '/runs');
    await page.screenshot({ path: join(PICTURES, `runs-${type}.png`) });
    expect(statSync(join(PICTURES, `runs-${type}.png`)).size).toBeLessThan(MOST_BYTES);
    const textures = await page.evaluate(
      `['emulated', 'dropped'].map((fate) => getComputedStyle(document.querySelector('.strip .b-' + fate)).backgroundImage.split('(')[0])`,
    );
    expect(textures).toEqual(['repeating-linear-gradient', 'repeating-linear-gradient']);
    await context.close();
  });

  it('the question of an agent leads to its session, and that of a run to the run, by a key', async () => {
    const { page, context, complaints, open } = await world.signedIn();
    await open('/inbox');
    await page.getByText('Open session').waitFor();
    await page.keyboard.press('o');
    await page.waitForURL(/\/agents\/agent_[0-9a-f]+\/sessions\/session_/);
    await open('/inbox');
    await page.keyboard.press('j');
    await page.locator('.approval.on', { hasText: 'Open run' }).waitFor();
    await page.keyboard.press('o');
    await page.waitForURL(/\/runs\/run_/);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('a run has as many events as its receipt says, each in a line', async () => {
    const { page, context, complaints, open } = await world.signedIn();
    const path = shots.find(([name]) => name === 'run')?.[1] ?? '';
    const { event_count: many } = await world.admin<{ event_count: number }>('GET', `/v1/receipts/${path.slice('/runs/'.length)}`);
    await open(`${path}?tab=events`);
    await page.getByRole('tab', { name: `Events ${many}` }).waitFor();
    await page.getByRole('table', { name: 'Events' }).waitFor();
    expect(await page.getByRole('table', { name: 'Events' }).locator('tbody tr').count()).toBe(many);
    expect(await seriousFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('a call is indented only below the run that asked for it, and the arrows choose the cell that F filters by', async () => {
    const { page, context, complaints, open } = await world.signedIn();
    await open('/runs?engine=gemini');
    await page.locator('.dl-body .el-b').first().waitFor();
    const rows: boolean[] = await page.evaluate(
      `[...document.querySelectorAll('.dl-body .dl-row')].map((row) => row.querySelector('.el-b') !== null)`,
    );
    expect(rows.filter((below) => below).length).toBeLessThanOrEqual(4);
    expect(rows[0]).toBe(false);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    for (const _ of [1, 2, 3, 4, 5, 6, 7, 8]) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('f');
    await page.waitForURL(/min_cost_nano_usd=\d+/);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('at 1024 the chosen cell of the Matrix is in sight, and with it whose it is and what it is about', async () => {
    const { page, context, complaints, open } = await world.signedIn({ width: 1024 });
    await page.setViewportSize({ width: 1024, height: 640 });
    await open('/matrix?row=engine:replay&col=embeddings');
    const hidden: string[] = await page.evaluate(`(() => {
      const within = document.querySelector('.gr').getBoundingClientRect();
      const parts = { cell: '.hit', row: 'tr.on .en', column: 'thead .colon .rot' };
      return Object.entries(parts).flatMap(([name, selector]) => {
        const { left, right, top, bottom } = document.querySelector(selector).getBoundingClientRect();
        return left >= within.left && right <= within.right && top >= within.top && bottom <= within.bottom ? [] : [name];
      });
    })()`);
    expect(hidden).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it.each([320, 390, 800, 1024, 1280])(
    'no text of any page stands on another one or is cut where nothing says so, at %i',
    async (width) => {
      const { page, context, open } = await world.signedIn({ width });
      const faults: string[] = [];
      for (const [name, path] of shots) {
        await open(path);
        await settled(page, name);
        faults.push(...(await layoutFaults(page)).map((fault) => `${name}: ${fault}`));
      }
      expect(faults).toEqual([]);
      await context.close();
    },
    600_000,
  );
});
