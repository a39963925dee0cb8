import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { visit } from '../support/console.ts';
import { type ConsoleWorld, startWorld } from '../support/console-world.ts';
import { needing } from '../support/needs.ts';

let world: ConsoleWorld;
const missing = await browserMissing();

const statusOf = async (run: string): Promise<string> => (await world.admin<{ status: string }>('GET', `/v1/runs/${run}`)).status;

/** Runs that work until they ask. */
async function asking(...prompts: readonly string[]): Promise<string[]> {
  const runs: string[] = [];
  for (const prompt of prompts) runs.push(await world.run(prompt));
  const open = async (): Promise<number> => (await world.admin<{ total: number }>('GET', '/v1/interactions')).total;
  await expect.poll(open).toBe(prompts.length);
  return runs;
}

describe.skipIf(missing !== undefined)(needing('coding agents in the console', missing), () => {
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world?.close());

  it('a run is followed live, approved by a key, and shows its files, calls and seal', async () => {
    const [run = ''] = await asking('Move the lease table to its own migration');
    const { page, context, complaints, open } = await world.signedIn();
    await open(`/runs/${run}`);
    await page.getByRole('article', { name: 'claude wants to run a command' }).getByText('$ npm run db:migrate -- --env staging').waitFor();
    const log = page.getByRole('log');
    await log.getByText('exit 1').waitFor();
    await log.getByText('not ok  two workers never hold one lease').waitFor();
    await log.getByText('exit 0').waitFor();
    const steps = page.getByRole('navigation', { name: 'Steps' });
    await steps.getByText('Edit lease.test.ts').click();
    await log.locator('.ev.hot').getByText('Promise.all').waitFor();
    const files = page.getByRole('region', { name: 'Files changed' });
    await files.getByText('migrations/0042_lease.sql').waitFor();
    expect(await files.locator('.file').filter({ hasText: 'lease.test.ts' }).textContent()).toMatch(/\+3\s*−1/);
    await page.getByRole('region', { name: 'What did not arrive as it was' }).getByText('metadata.user_id').waitFor();
    expect(await page.getByRole('region', { name: 'Model calls' }).locator('tbody tr').count()).toBeGreaterThan(5);
    await page.keyboard.press('a');
    await page.getByText('Sealed and checked').waitFor();
    await log.getByText(/approved by the holder of the token/).waitFor();
    await page.getByRole('link', { name: 'Run again with…' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
    expect(await statusOf(run)).toBe('completed');
  });

  it('neither a key that is held down nor the second one of a pair answers what nobody has looked at', async () => {
    const [run = ''] = await asking('Move the lease table to its own migration', 'Fix the flaky queue test');
    const { page, context, complaints, open } = await world.signedIn();
    const waiting = async (): Promise<number> => (await world.admin<{ total: number }>('GET', '/v1/interactions')).total;
    await open(`/runs/${run}`);
    await page.getByRole('article', { name: 'claude wants to run a command' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.waitForURL('**/agents');
    expect(await waiting()).toBe(2);
    await open('/inbox');
    await page.getByRole('heading', { name: '2 wait for you', level: 1 }).waitFor();
    await page.keyboard.down('a');
    await page.getByRole('heading', { name: '1 waits for you' }).waitFor();
    await page.keyboard.down('a');
    await page.keyboard.down('a');
    await page.keyboard.up('a');
    await page.keyboard.press('j');
    await page.getByText('Answered today').waitFor();
    expect(await waiting()).toBe(1);
    await page.keyboard.press('a');
    await page.getByRole('heading', { name: 'Nobody waits for you' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('the inbox is answered by keys alone, and a denial carries its reason', async () => {
    const [first = ''] = await asking('Fix the flaky queue test', 'Move the lease table to its own migration');
    const { page, context, complaints } = await world.signedIn();
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.getByRole('heading', { name: '2 wait for you', level: 1 }).waitFor();
    await page.keyboard.press('d');
    await page.getByLabel('Reason, if denied').fill('use a lock instead');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '1 waits for you' }).waitFor();
    await expect.poll(() => statusOf(first)).toBe('completed');
    await page.keyboard.press('a');
    await page.getByRole('heading', { name: 'Nobody waits for you' }).waitFor();
    await page.getByRole('region', { name: 'Answered today' }).getByText('use a lock instead').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('a paired phone answers with its thumb, and the desktop is told by whom', async () => {
    await asking('Fix the flaky queue test');
    const desktop = await world.signedIn();
    await desktop.open('/inbox');
    const card = desktop.page.getByRole('article', { name: 'claude wants to write' });
    await card.waitFor();
    const phone = await world.signedIn({ width: 390, scope: 'answer' });
    await phone.open('/inbox');
    const approve = phone.page.getByRole('button', { name: 'Approve' });
    const box = await approve.boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
    await approve.scrollIntoViewIfNeeded();
    await approve.click();
    await phone.page.getByRole('heading', { name: 'Nobody waits for you' }).waitFor();
    await card.getByText('approved by a paired browser, phone').waitFor();
    await card.waitFor({ state: 'detached' });
    expect([...phone.complaints, ...desktop.complaints]).toEqual([]);
    await phone.context.close();
    await desktop.context.close();
  });

  it('a phone is let in by a code of squares, which holds the link and nothing that is logged', async () => {
    const { page, context, complaints, open } = await world.signedIn();
    await open('/coding');
    await page.getByRole('button', { name: 'Make a link for a phone' }).click();
    await page.getByRole('img', { name: /camera of a phone/ }).waitFor();
    const link = await page.locator('code', { hasText: '/inbox#code=' }).textContent();
    await page.getByText(/A phone cannot reach 127.0.0.1/).waitFor();
    const phone = await visit(world.browser, world.server.url, { width: 390 });
    await phone.page.goto(link ?? '');
    await phone.page.getByRole('heading', { name: 'Nobody waits for you' }).waitFor();
    await phone.page.waitForURL(`${world.server.url}/inbox`);
    expect(world.server.logs()).not.toContain(link?.split('#code=')[1]);
    await asking('Fix the flaky queue test');
    await phone.page.getByRole('button', { name: 'Approve' }).click();
    await phone.page.getByRole('heading', { name: 'Nobody waits for you' }).waitFor();
    await phone.open('/settings/keys');
    await phone.page.getByText(/needs a signed-in browser/).waitFor();
    await open('/settings/trust');
    // Phones of other tests are still let in; all of them go.
    const paired = page.getByRole('row', { name: /read and answer/ });
    await paired.first().waitFor();
    for (let left = await paired.count(); left > 0; left -= 1) {
      await paired.first().getByRole('button', { name: 'Sign out' }).click();
      await expect.poll(() => paired.count()).toBe(left - 1);
    }
    expect([...complaints, ...phone.complaints]).toEqual([]);
    await asking('Fix the flaky queue test');
    await phone.open('/inbox');
    expect(await phone.page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
    const late = await visit(world.browser, world.server.url, { width: 390 });
    await late.page.goto(link ?? '');
    await late.page.getByText(/This link was used before/).waitFor();
    for (const one of [context, phone.context, late.context]) await one.close();
  });
});
