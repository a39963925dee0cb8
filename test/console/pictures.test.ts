import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { seriousFaults } from '../support/console.ts';
import { type ConsoleWorld, makeTraffic, startWorld } from '../support/console-world.ts';
import { fillRuns } from '../support/many-runs.ts';
import { needing } from '../support/needs.ts';

const PICTURES = join(import.meta.dirname, '..', '..', 'docs', 'screenshots');
const MOST_BYTES = 200_000;
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
async function pagesOf(): Promise<readonly (readonly [string, string])[]> {
  const { items } = await world.admin<{ items: { run_id: string; mode: string; error: object | null; plane: string; status: string }[] }>(
    'GET',
    '/v1/runs?view=row&limit=200',
  );
  const find = (test: (row: (typeof items)[number]) => boolean): string => items.find(test)?.run_id ?? expect.fail('the run is missing');
  const mapped = items.filter(({ mode, error }) => mode === 'mapped' && error === null).map(({ run_id }) => run_id);
  return [
    ['home', '/'],
    ['runs', `/runs?sel=${find(({ mode, plane, error }) => mode === 'mapped' && plane === 'gateway' && error === null)}`],
    ['run', `/runs/${find(({ mode, error }) => mode === 'mapped' && error === null)}`],
    ['run-passed', `/runs/${find(({ mode, error }) => mode === 'passthrough' && error === null)}`],
    ['run-refused', `/runs/${find(({ mode, error }) => mode === 'mapped' && error !== null)}`],
    ['run-coding', `/runs/${find(({ plane, status }) => plane === 'run' && status === 'running')}`],
    ['run-coding-ended', `/runs/${find(({ plane, status }) => plane === 'run' && status === 'completed')}`],
    ['compare', `/runs/${mapped[0]}/vs/${find(({ mode, error }) => mode === 'passthrough' && error === null)}`],
    ['playground', '/playground'],
    ['playground-refused', '/playground?to=sim:openai-chat'],
    ['matrix', '/matrix?row=engine:gemini&col=extended_thinking'],
    ['models', '/matrix?kind=models'],
    ['agents', '/agents'],
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
  if (name === 'run-coding') await page.getByRole('log').locator('.box').first().waitFor();
}

describe.skipIf(missing !== undefined)(needing('pictures of the console', missing), () => {
  beforeAll(async () => {
    world = await startWorld();
    await fillRuns(world.server, 4000);
    await makeTraffic(world, 10);
    const done = await world.run('Make the queue claim in one transaction', { approvalMode: 'yolo' });
    await vi.waitFor(async () => expect(await world.admin('GET', `/v1/runs/${done}`)).toMatchObject({ status: 'completed' }), PATIENCE);
    await world.run('Fix the flaky queue test', { maxBudgetUsd: 0.5, enforcement: 'advisory' });
    await world.run('Move the lease table to its own migration', { maxBudgetUsd: 2, enforcement: 'advisory', thinkingEffort: 'high' });
    await vi.waitFor(async () => expect(await world.admin('GET', '/v1/interactions')).toMatchObject({ total: 2 }), PATIENCE);
    mkdirSync(PICTURES, { recursive: true });
    shots = await pagesOf();
  }, 300_000);
  afterAll(() => world?.close());

  it.each(VARIANTS)(
    'every page in %s at %i is drawn without a complaint, in less than 200 kB',
    async (theme, width) => {
      const { page, context, complaints, open } = await world.signedIn({ theme, width });
      if (width > 720) await page.setViewportSize({ width, height: 720 });
      const faults: string[] = [];
      for (const [name, path] of shots) {
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
});
