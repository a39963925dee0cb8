import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { type ConsoleStage, makeRuns, seriousFaults, startConsole, visit } from '../support/console.ts';
import { needing } from '../support/needs.ts';

const missing = await browserMissing();
const PAGES = ['/', '/runs', '/coding', '/inbox', '/usage', '/agents', '/matrix', '/playground', '/settings/keys'];

describe.skipIf(missing !== undefined)(needing('states of the console', missing), () => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await startConsole();
  });
  afterAll(() => stage?.close());

  it('empty: every page says what is missing, and Home makes the first run', async () => {
    const { page, context, complaints, open } = await stage.signedIn();
    for (const path of PAGES) {
      await open(path);
      expect(await seriousFaults(page), path).toEqual([]);
    }
    await open('/runs');
    await page.getByText('No runs yet').waitFor();
    await open('/');
    await page.getByText('Nothing has run here yet').waitFor();
    await page.getByText('recording full, 0 B of 2.1 GB').waitFor();
    await page.getByRole('button', { name: 'Claude Code' }).click();
    await page.getByText(`export ANTHROPIC_BASE_URL=${stage.server.url}/e/sim`).waitFor();
    await page.getByRole('button', { name: 'Send it from here' }).click();
    await page.getByRole('region', { name: 'Newest runs' }).getByText('claude → sim').waitFor();
    // What is added up has the next call, too, and the first step is ticked, without anybody asking for the page again.
    await makeRuns(stage.server, 1);
    const next = page.getByRole('region', { name: 'Try next' });
    await next.getByText('2 of 5').waitFor();
    await page.locator('.big', { hasText: /[3-6]\s*calls/ }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('no permission: a caller without a session sees its own runs, and what is locked says why', async () => {
    await makeRuns(stage.server, 1);
    const { page, context, complaints, open } = await visit(stage.browser, stage.server.url);
    for (const path of PAGES) {
      await open(path);
      expect(await seriousFaults(page), path).toEqual([]);
    }
    await open('/runs');
    await page.locator('.dl-body .dl-row').first().waitFor();
    await open('/coding');
    await page.getByText('abp console').first().waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('an address that nothing has: a browser is told by the console and led back, a program by JSON', async () => {
    const { page, context, open } = await stage.signedIn();
    for (const path of ['/nowhere', '/settings/keys/of/nobody']) {
      const answer = await page.goto(`${stage.server.url}${path}`);
      expect([answer?.status(), answer?.headers()['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
      await page.getByText('There is no page of this address.').waitFor();
      await page.locator('main, .empty').getByText(path).first().waitFor();
    }
    expect(await seriousFaults(page)).toEqual([]);
    await page.locator('.empty').getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor({ state: 'attached' });
    await open('/runs/');
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor({ state: 'attached' });
    const plain = await fetch(`${stage.server.url}/nowhere`);
    expect([plain.status, await plain.text()]).toEqual([404, expect.stringContaining('There is no path /nowhere.')]);
    await context.close();
  });

  it('a filter that fits nothing names what excludes everything, and takes it away', async () => {
    const { page, context, open } = await stage.signedIn();
    await open('/runs?engine=sim&status=cancelled');
    await page.getByText('No run fits all of these').waitFor();
    const row = page.locator('.empty p', { hasText: 'status cancelled' });
    await row.getByText(/there are [1-9]/).waitFor();
    await row.getByRole('button', { name: 'Remove it' }).click();
    await page.locator('.dl-body .dl-row').first().waitFor();
    await context.close();
  });

  it('archived: the row and the page of a run stay, with its hash and its place', async () => {
    await makeRuns(stage.server, 1);
    const ask = async (path: string, init: RequestInit = {}): Promise<{ items: { run_id: string }[]; count: number }> =>
      (await (
        await fetch(`${stage.server.url}${path}`, {
          ...init,
          headers: { 'x-abp-key': stage.server.token, 'content-type': 'application/json' },
        })
      ).json()) as never;
    const [run] = (await ask('/v1/runs?view=row&limit=1')).items;
    const { count } = await ask('/v1/receipts/remove', {
      method: 'POST',
      body: JSON.stringify({ status: 'archived', before: new Date(Date.now() + 60_000) }),
    });
    expect(count).toBeGreaterThan(0);
    const { page, context, complaints, open } = await stage.signedIn();
    await open(`/runs/${run?.run_id}`);
    await page.getByRole('heading', { name: /^archived on/ }).waitFor();
    await page.getByRole('button', { name: 'Verify its place' }).click();
    await page.getByText('Its place in the chain holds').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await open(`/runs?sel=${run?.run_id}`);
    await page
      .getByRole('complementary', { name: 'Peek' })
      .getByText(/^archived on/)
      .waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('a body folds and unfolds by keys, and what a field leads to is never folded away', async () => {
    await makeRuns(stage.server, 1);
    const { page, context, complaints, open } = await stage.signedIn();
    await open('/runs?mode=mapped&status=completed');
    await page.locator('.dl-body .dl-row').first().dblclick();
    await page.getByRole('tab', { name: 'Request, raw' }).click();
    const body = page.getByRole('region', { name: 'Caller sent' });
    const lines = (): Promise<number> => body.locator('i').count();
    await body.getByRole('button').first().focus();
    const all = await lines();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowLeft');
    await body.getByText(/… \d+ lines … \]/).waitFor();
    expect(await lines()).toBeLessThan(all);
    expect(await seriousFaults(page)).toEqual([]);
    await page.keyboard.press('ArrowRight');
    await expect.poll(lines).toBe(all);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(lines).toBe(1);
    await page.getByRole('tab', { name: 'Fate of fields' }).click();
    await page.getByRole('button', { name: /top_k/ }).first().click();
    await expect.poll(lines).toBe(all);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('on a phone a page ends above the tabs, its head stays, and the fates of a run can be read', async () => {
    await makeRuns(stage.server, 2);
    const { page, context, complaints, open } = await stage.signedIn({ width: 390 });
    const tabs = page.getByRole('navigation', { name: 'Pages, for a thumb' });
    for (const path of ['/', '/coding', '/usage', '/playground', '/matrix', '/agents']) {
      await open(path);
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      const end = await page.evaluate('document.querySelector("main > *").getBoundingClientRect().bottom');
      expect(end, path).toBeLessThan(((await tabs.boundingBox())?.y ?? 0) + 1);
      expect((await page.getByRole('banner').boundingBox())?.y, path).toBe(0);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBe(0);
    }
    await open('/runs?mode=mapped&status=completed');
    await page.locator('.dl-body .dl-row').first().click();
    // What is clipped has a place and cannot be touched.
    await page.getByText('"metadata.user_id"').click();
    await page.getByRole('region', { name: 'Caller sent' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('a paired browser is told which pages are not for it, and asks for nothing that it may not have', async () => {
    const { page, context, complaints, open } = await stage.signedIn({ scope: 'answer' });
    for (const path of PAGES) await open(path);
    await open('/agents');
    await page.getByText('Agents are not for this browser').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('a chain that was cut turns its cell of the status line vermilion, which leads to Trust', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'abp-cut-'));
    onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
    const home = join(parent, 'home');
    const first = await startConsole({ home });
    await makeRuns(first.server, 1);
    await first.close();
    const db = new DatabaseSync(join(home, 'abp.db'));
    for (const table of ['receipts', 'chain_entries', 'chain_heads', 'chains']) db.prepare(`DELETE FROM ${table}`).run();
    db.close();
    const cut = await startConsole({ home });
    onTestFinished(() => cut.close());
    const { page, context, open } = await cut.signedIn();
    await open('/runs');
    const cell = page.getByRole('contentinfo').getByRole('link', { name: /^chain was cut/ });
    await cell.waitFor();
    expect(await page.evaluate('getComputedStyle(document.querySelector("footer a.bad")).color')).toBe('rgb(179, 38, 30)');
    expect(await seriousFaults(page)).toEqual([]);
    await cell.click();
    await page.getByRole('heading', { name: 'The whole chain' }).waitFor();
    await context.close();
  });

  it('error: when the server stops, what was there stays and every page says that it is gone', async () => {
    const { page, context, open } = await stage.signedIn();
    await open('/runs');
    await page.locator('.dl-body .dl-row').first().waitFor();
    await page.keyboard.press('j');
    const replay = page.getByRole('complementary', { name: 'Peek' }).getByRole('button', { name: 'Replay' });
    await replay.waitFor();
    const sent = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Wait 60000 ms.' }] };
    const headers = { 'content-type': 'application/json' };
    // Nobody answers it before the server is gone.
    void fetch(`${stage.server.url}/e/sim/v1/messages`, { method: 'POST', headers, body: JSON.stringify(sent) }).catch(() => undefined);
    await page.locator('.dl-row .dot.live').first().waitFor();
    const running = await context.newPage();
    await running.goto(`${stage.server.url}/runs`);
    await running.locator('.dl-row .dot.live').first().dblclick();
    await running.getByRole('heading', { level: 1 }).waitFor();
    await stage.server.close();
    await running.getByRole('alert').waitFor();
    expect(await running.getByText('running').count()).toBeGreaterThan(0);
    await page.getByText('the server cannot be reached').waitFor({ timeout: 60_000 });
    expect(await page.locator('.dl-body .dl-row').count()).toBeGreaterThan(0);
    await page.getByText(/Not live since/).waitFor();
    expect([await replay.isDisabled(), await replay.getAttribute('title')]).toEqual([true, 'The server cannot be reached.']);
    // A page that was never open has no parts here: it says so, the frame stays, and the way back leads to what was known.
    await page.keyboard.press('g');
    await page.keyboard.press('u');
    await page.getByText('This page has not come yet.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('the server cannot be reached').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.locator('.dl-body .dl-row').first().waitFor();
    await context.close();
  });
});
