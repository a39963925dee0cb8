import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { type ConsoleStage, makeRuns, seriousFaults, startConsole, visit } from '../support/console.ts';
import { needing } from '../support/needs.ts';

/** Each page with what the browser's tab says of it. */
const PAGES = [
  ['/', 'Home'],
  ['/runs', 'Runs'],
  ['/playground', 'Playground'],
  ['/matrix', 'Matrix'],
  ['/agents', 'Agents'],
  ['/coding', 'Coding agents'],
  ['/inbox', 'Inbox'],
  ['/usage', 'Usage'],
  ['/settings/engines', 'Settings, engines'],
  ['/settings/keys', 'Settings, keys'],
  ['/settings/trust', 'Settings, trust'],
] as const;

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

const missing = await browserMissing();

describe.skipIf(missing !== undefined)(needing('the console in a browser', missing), () => {
  beforeAll(async () => {
    stage = await startConsole();
    await makeRuns(stage.server, 8);
  }, 180_000);
  afterAll(() => stage?.close());

  it('no page complains, asks anybody else or has a serious fault of access, and each has its title', async () => {
    const { page, context, complaints, open } = await stage.signedIn();
    for (const [path, title] of PAGES) {
      await open(path);
      expect(await page.title()).toBe(`${title} · Agent Backplane`);
      expect(await seriousFaults(page), path).toEqual([]);
      expect(complaints, path).toEqual([]);
    }
    await context.close();
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

    it('what floats has the keys to itself: Escape closes it alone, and nothing behind it moves', async () => {
      const { page, context } = await stage.signedIn();
      await page.goto(`${stage.server.url}/runs`);
      await page.locator('.dl-body .dl-row').first().waitFor();
      await page.keyboard.press('j');
      await page.getByRole('complementary', { name: 'Peek' }).waitFor();
      const before = page.url();
      await page.getByText('Columns', { exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByLabel('Compact rows').waitFor();
      expect(page.url()).toBe(before);
      await page.keyboard.press('?');
      const sheet = page.getByRole('dialog', { name: 'Keys' });
      await sheet.waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('Escape');
      await sheet.waitFor({ state: 'detached' });
      expect(page.url()).toBe(before);
      await page.keyboard.press('Escape');
      await page.getByRole('complementary', { name: 'Peek' }).waitFor({ state: 'detached' });
      await context.close();
    });

    it('the filter offers names and values, takes them by key, and lets Tab go on where it has nothing to offer', async () => {
      const { page, context, complaints, open } = await stage.signedIn();
      await open('/runs');
      await page.keyboard.press('/');
      const field = page.getByRole('combobox', { name: 'Filter runs' });
      await page.keyboard.type('sta');
      await page.keyboard.press('Tab');
      expect(await field.inputValue()).toBe('status:');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      expect(await page.getByRole('listbox', { name: 'Names and values' }).getByRole('option', { selected: true }).textContent()).toBe(
        'status:failed',
      );
      expect(await seriousFaults(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await page.waitForURL(/status=failed/);
      await page.keyboard.type('engine:sim');
      await page.keyboard.press('Escape');
      await page.getByRole('listbox', { name: 'Names and values' }).waitFor({ state: 'detached' });
      expect(await page.evaluate('document.activeElement?.getAttribute("aria-label")')).toBe('Filter runs');
      await page.keyboard.press('Enter');
      await page.waitForURL(/engine=sim/);
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement?.getAttribute("aria-label")')).not.toBe('Filter runs');
      expect(complaints).toEqual([]);
      await context.close();
    });

    it('Y copies the whole id and says so, and where the browser does not let it the id is shown', async () => {
      const { page, context, complaints, open } = await stage.signedIn();
      const run = await runOf(({ error }) => error === null);
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await open(`/runs?sel=${run}`);
      await page.keyboard.press('y');
      await page
        .getByRole('status')
        .filter({ hasText: `Copied ${run}` })
        .waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(run);
      const session = await context.newCDPSession(page);
      const permission = { name: 'clipboard-write', allowWithoutSanitization: false };
      await context.clearPermissions();
      await session.send('Browser.setPermission', { permission, setting: 'denied', origin: stage.server.url });
      await page.keyboard.press('y');
      await page.getByRole('alert').filter({ hasText: run }).waitFor();
      expect(complaints).toEqual([]);
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

  it('dragging over the histogram narrows the time, and a click jumps', async () => {
    const { page, context, complaints, open } = await stage.signedIn();
    await open('/runs?span=3600000');
    const bars = page.getByRole('img', { name: /drag to narrow the time/ });
    const box = (await bars.boundingBox()) ?? expect.fail('the histogram has no place');
    const at = (share: number): readonly [number, number] => [box.x + box.width * share, box.y + box.height / 2];
    await page.mouse.move(...at(0.4));
    await page.mouse.down();
    for (const share of [0.5, 0.7, 0.9]) await page.mouse.move(...at(share));
    await page.mouse.up();
    await page.waitForURL(/since=.*until=/);
    const asked = new URL(page.url()).searchParams;
    const narrowed = Date.parse(asked.get('until') ?? '') - Date.parse(asked.get('since') ?? '');
    expect(narrowed).toBeGreaterThan(20 * 60_000);
    expect(narrowed).toBeLessThan(40 * 60_000);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('a machine that is off every network still gets answers of its own server', async () => {
    const { page, context, complaints, open } = await stage.signedIn();
    await open('/');
    await page.evaluate('window.dispatchEvent(new Event("offline"))');
    const asked = page.waitForResponse((response) => response.url().includes('/v1/receipts/keys'), { timeout: 20_000 });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('trust');
    await page.keyboard.press('Enter');
    expect((await asked).status()).toBe(200);
    expect(complaints).toEqual([]);
    await context.close();
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

  it('a browser that is not signed in sees what is locked, and why', async () => {
    const { page, context } = await visit(stage.browser, stage.server.url);
    await page.goto(`${stage.server.url}/settings/keys`);
    await page.getByText('abp console').first().waitFor();
    await page.goto(`${stage.server.url}/runs`);
    await page.locator('.dl-body .dl-row').first().waitFor();
    await context.close();
  });
});
