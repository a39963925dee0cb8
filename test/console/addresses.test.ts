import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { type ConsoleStage, makeRuns, startConsole } from '../support/console.ts';
import { needing } from '../support/needs.ts';

const missing = await browserMissing();
let stage: ConsoleStage;

async function admin<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = { 'x-abp-key': stage.server.token, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const answer = await fetch(`${stage.server.url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return JSON.parse((await answer.text()) || 'null') as T; // the caller knows what the route answers
}

/** An agent with one session, in which something was said. */
async function talked(name: string, words: string): Promise<{ readonly agent: string; readonly session: string }> {
  const { id: agent } = await admin<{ id: string }>('POST', '/v1/agents', { name, model: 'sim/sim-1' });
  const { id: session } = await admin<{ id: string }>('POST', '/v1/sessions', { agent_id: agent, title: `talk with ${name}` });
  await admin('POST', `/v1/sessions/${session}/messages`, { message: { content: `say exactly: "${words}"` } });
  return { agent, session };
}

describe.skipIf(missing !== undefined)(needing('what an address names', missing), () => {
  beforeAll(async () => {
    stage = await startConsole();
    await makeRuns(stage.server, 2);
  }, 180_000);
  afterAll(() => stage?.close());

  it('is what is shown: the session of an archived agent, and never the conversation of somebody else', async () => {
    const gone = await talked('gone', 'words of the one that is gone');
    await admin('DELETE', `/v1/agents/${gone.agent}`);
    const here = await talked('here', 'words of the one that is here');
    const { page, context, open } = await stage.signedIn();
    const log = page.getByRole('log');
    await open(`/agents/${gone.agent}/sessions/${gone.session}`);
    await log.getByText('words of the one that is gone').first().waitFor();
    await open(`/agents/${here.agent}/sessions/${here.session}`);
    await log.getByText('words of the one that is here').first().waitFor();
    for (const path of [
      `/agents/${here.agent}/sessions/${gone.session}`,
      `/agents/${here.agent}/sessions/session_0123456789abcdef0123456789abcdef`,
      '/agents/agent_0123456789abcdef0123456789abcdef',
    ]) {
      await open(path);
      await page.getByText('There is nothing at this address').waitFor();
      expect(await page.locator('main').textContent()).not.toContain('words of the one');
    }
    await context.close();
  });

  it('is said where there is no such section of the settings', async () => {
    const { page, context, complaints, open } = await stage.signedIn();
    await open('/settings/nothing');
    await page.getByText('There is no section nothing.').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('is an error where a filter makes no sense, and not a list without runs', async () => {
    const { page, context, open } = await stage.signedIn();
    await open('/runs?status=bogus&min_cost_nano_usd=much');
    await page.getByRole('alert').filter({ hasText: 'bogus' }).waitFor();
    expect(await page.getByText('No run fits').count()).toBe(0);
    await page.getByRole('button', { name: 'min_cost_nano_usd much' }).click();
    await page.getByRole('button', { name: 'status bogus' }).click();
    await page.locator('.dl-body .dl-row').first().waitFor();
    await context.close();
  });

  it.each(['/', '/runs', '/settings/keys', '/matrix?row=engine:replay&col=embeddings', '/usage'])(
    'of %s: the first Tab leads past the bar on top',
    async (path) => {
      const { page, context, complaints, open } = await stage.signedIn();
      await open(path);
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the page');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true);
      expect(complaints).toEqual([]);
      await context.close();
    },
  );
});
