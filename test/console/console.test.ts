import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { source } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { type ConsoleStage, makeRuns, startConsole, visit } from '../support/console.ts';
import { needing } from '../support/needs.ts';

const PAGES = [
  '/',
  '/runs',
  '/playground',
  '/matrix',
  '/agents',
  '/coding',
  '/inbox',
  '/usage',
  '/settings/engines',
  '/settings/keys',
  '/settings/trust',
];
const PICTURES = join(import.meta.dirname, '..', '..', 'docs', 'screenshots');
/** Pictures are made by `npm run test:console` alone. */
const takesPictures = process.env.ABP_CONSOLE_PICTURES !== undefined;

let stage: ConsoleStage;

interface Row {
  readonly run_id: string;
  readonly mode: string | null;
  readonly error: object | null;
}

async function runOf(test: (row: Row) => boolean): Promise<string> {
  const { items } = (await (await fetch(`${stage.server.url}/v1/runs?view=row&limit=100`)).json()) as { items: Row[] };
  return items.find(test)?.run_id ?? '';
}

async function serious(page: Page): Promise<string[]> {
  await page.evaluate(source);
  const found: { id: string; impact: string; nodes: { html: string }[] }[] = await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => ({ html })) })))',
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 140)).join(' | ')}`);
}

const settle = async (page: Page): Promise<void> => {
  await page.waitForLoadState('load');
  await page.locator('h1').first().waitFor({ state: 'attached' });
  await page.waitForTimeout(400);
};

const VARIANTS = [
  ['light', 1440],
  ['dark', 1440],
  ['light', 390],
  ['dark', 390],
] as const;

const missing = await browserMissing();

describe.skipIf(missing !== undefined)(needing('the console in a browser', missing), () => {
  beforeAll(async () => {
    stage = await startConsole();
    await makeRuns(stage.server, 8);
    mkdirSync(PICTURES, { recursive: true });
  }, 180_000);
  afterAll(() => stage?.close());

  // `npm test` holds one of the four; `npm run test:console` all, with pictures.
  describe.each(takesPictures ? VARIANTS : VARIANTS.slice(0, 1))('in %s at %i', (theme, width) => {
    it.each(PAGES)(
      '%s complains about nothing, asks nobody else and has no serious fault of access',
      async (path) => {
        const { page, context, complaints } = await stage.signedIn({ theme, width });
        await page.goto(`${stage.server.url}${path}`);
        await settle(page);
        expect(await serious(page)).toEqual([]);
        expect(complaints).toEqual([]);
        if (takesPictures) {
          const name = path === '/' ? 'home' : path.slice(1).replaceAll('/', '-');
          await page.screenshot({ path: join(PICTURES, `${name}-${theme}${width < 720 ? '-phone' : ''}.png`) });
        }
        await context.close();
      },
      60_000,
    );

    it('the page of a mapped run checks its seal', async () => {
      const { page, context, complaints } = await stage.signedIn({ theme, width });
      await page.goto(`${stage.server.url}/runs/${await runOf(({ mode, error }) => mode === 'mapped' && error === null)}`);
      await page.getByText('Sealed and checked').waitFor();
      await settle(page);
      expect(await serious(page)).toEqual([]);
      expect(complaints).toEqual([]);
      if (takesPictures) await page.screenshot({ path: join(PICTURES, `run-${theme}${width < 720 ? '-phone' : ''}.png`) });
      await context.close();
    });
  });

  describe('by keyboard alone', () => {
    it('a run is found, opened, compared and sent again', async () => {
      const { page, context } = await stage.signedIn();
      await page.keyboard.press('g');
      await page.keyboard.press('r');
      await page.locator('.dl-body .dl-row').first().waitFor();
      await page.keyboard.press('j');
      await page.getByRole('complementary', { name: 'Peek' }).waitFor();
      await page.keyboard.press('x');
      await page.keyboard.press('j');
      await page.keyboard.press('c');
      await page.getByRole('heading', { name: 'Compare' }).waitFor();
      await page.goBack();
      await page.keyboard.press('Enter');
      await page.getByText('Sealed and checked').waitFor();
      await page.keyboard.press('r');
      await page.getByRole('heading', { name: 'Compare' }).waitFor();
      await context.close();
    });

    it('the palette finds a run by three digits of its id', async () => {
      const { page, context } = await stage.signedIn();
      const run = await runOf(({ mode }) => mode === 'mapped');
      await page.keyboard.press('Control+k');
      await page.keyboard.type(run.slice(-6));
      await page
        .getByRole('option')
        .filter({ hasText: run.slice(-6) })
        .waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/runs/${run}`);
      await context.close();
    });
  });

  it('the Playground shows fates while one types, and sends', async () => {
    const { page, context, complaints } = await stage.signedIn();
    await page.goto(`${stage.server.url}/playground`);
    await page.getByText('Would be sent', { exact: true }).waitFor();
    await page.getByLabel('Engine', { exact: true }).selectOption('sim:openai-chat');
    await page.getByText('Would be refused', { exact: true }).waitFor();
    await page.getByLabel('Engine', { exact: true }).selectOption('sim:gemini');
    await page.getByRole('button', { name: /^Send/ }).click();
    await page.getByRole('region', { name: 'Answer' }).getByText('lookup_release').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('an agent is made and answers in a conversation', async () => {
    const { page, context } = await stage.signedIn();
    await page.goto(`${stage.server.url}/agents`);
    await page.getByRole('button', { name: 'clerk' }).click();
    await page.getByRole('button', { name: 'Make it' }).click();
    const field = page.getByLabel('Message clerk');
    await field.fill('say hello from the clerk');
    await field.press('Enter');
    await page
      .getByRole('log')
      .getByText(/receipt/)
      .waitFor();
    await context.close();
  });

  it('text of models never becomes HTML', async () => {
    const { page, context, complaints } = await stage.signedIn();
    const hostile = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>[a](javascript:window.hit=1) <svg onload=alert(1)>';
    await fetch(`${stage.server.url}/e/sim/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: hostile, max_tokens: 300, messages: [{ role: 'user', content: `say ${hostile}` }] }),
    }).then((answer) => answer.text());
    await stage.server.gateway.keeper.settled();
    const run = await runOf(() => true);
    for (const path of ['/', '/runs', `/runs?sel=${run}`, `/runs/${run}`, `/runs/${run}?tab=request`, `/playground?run=${run}`]) {
      await page.goto(`${stage.server.url}${path}`);
      await page.waitForTimeout(600);
      expect(await page.evaluate('window.hit')).toBeUndefined();
      expect(await page.locator('main img, main script').count()).toBe(0);
    }
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('a browser that is not signed in sees what is locked, and why', async () => {
    const { page, context } = await visit(stage.browser, stage.server.url);
    await page.goto(`${stage.server.url}/settings/keys`);
    await page.getByText('abp console').first().waitFor();
    await page.goto(`${stage.server.url}/runs`);
    await page.locator('.dl-body .dl-row').first().waitFor();
    await context.close();
  });
});
