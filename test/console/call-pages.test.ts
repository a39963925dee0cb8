import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { type ConsoleStage, seriousFaults, startConsole } from '../support/console.ts';
import { layoutFaults } from '../support/layout-faults.ts';
import { needing } from '../support/needs.ts';

const missing = await browserMissing();
const PATIENCE = { timeout: 60_000, interval: 100 };
let stage: ConsoleStage;

async function admin<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = { 'x-abp-key': stage.server.token, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const answer = await fetch(`${stage.server.url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T; // the caller knows what the route answers
}

/** A Claude call; its answer may still be coming. */
function call(path: string, content: string, more: object = {}): Promise<Response> {
  return fetch(`${stage.server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 200, messages: [{ role: 'user', content }], ...more }),
  });
}

const runOf = ({ headers }: Response): string => headers.get('x-abp-run-id') ?? expect.fail('the answer names no run');

describe.skipIf(missing !== undefined)(needing('pages of calls', missing), () => {
  beforeAll(async () => {
    // Nobody listens at this port: it belongs to a service that no machine has.
    stage = await startConsole({ config: { engines: { groq: { url: 'http://127.0.0.1:9', key: 'k-of-groq' } } } });
  }, 180_000);
  afterAll(() => stage?.close());

  it.each([
    ['passed on', '/e/sim/v1/messages', {}],
    ['mapped', '/e/sim:gemini/v1/messages', { metadata: { user_id: 'u_4812' } }],
  ])('a call that goes on and is %s is told as going on, and as what it was once it has ended', async (_, path, more) => {
    const { page, context, complaints } = await stage.signedIn();
    const answer = await call(path, 'wait 600000 ms between the words and say one two three', { stream: true, ...more });
    const run = runOf(answer);
    await page.goto(`${stage.server.url}/runs/${run}`);
    await page.getByText('Under way for').waitFor();
    await page.getByText('Not sealed yet').waitFor();
    await page.getByRole('tab', { name: 'Response', exact: true }).click();
    await page.getByText('can be read once the call has ended').waitFor();
    const said = await page.locator('#root').textContent();
    for (const untrue of ['Nobody was called', 'Not recorded', 'nothing was used', 'no price', 'Events 0', 'Attempts 0']) {
      expect(said).not.toContain(untrue);
    }
    expect(await seriousFaults(page)).toEqual([]);
    await answer.body?.cancel();
    await page.getByText('Sealed and checked').waitFor();
    await page.getByText('content_block_start').first().waitFor();
    expect(await page.getByText('Under way').count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('a call that nobody answered is not told as refused', async () => {
    const { page, context, complaints, open } = await stage.signedIn();
    const run = runOf(await call('/e/groq/v1/messages', 'hi'));
    await stage.server.gateway.keeper.settled();
    await open(`/runs/${run}`);
    await page.getByText('Sealed and checked').waitFor();
    const said = await page.locator('#root').textContent();
    expect(said).toContain('E007');
    expect(said).not.toContain('the request was refused before anything was spent');
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('a call that a turn made is a call: with its fates, its bodies and the way to the turn; no engine is its agent', async () => {
    const { page, context, complaints, open } = await stage.signedIn();
    const agent = await admin<{ id: string }>('POST', '/v1/agents', { name: 'clerk', model: 'sim/sim-1', system_prompt: 'You answer.' });
    const session = await admin<{ id: string }>('POST', '/v1/sessions', { agent_id: agent.id });
    await admin('POST', `/v1/sessions/${session.id}/messages`, { message: { content: 'say hello from the turn' } });
    interface Row {
      readonly run_id: string;
      readonly parent_run_id: string | null;
      readonly agent: string | null;
      readonly sequence: number | null;
    }
    const [turn, made] = await vi.waitFor(async () => {
      const { items } = await admin<{ items: readonly Row[] }>('GET', '/v1/runs?view=row&plane=agent');
      const top = items.find(({ parent_run_id, sequence }) => parent_run_id === null && sequence !== null);
      const below = items.find(({ parent_run_id, sequence }) => parent_run_id !== null && sequence !== null);
      if (top === undefined || below === undefined) throw new Error('The turn has not ended.');
      return [top, below];
    }, PATIENCE);
    expect([turn.agent, made.agent]).toEqual([agent.id, null]);
    expect((await admin<{ items: readonly Row[] }>('GET', '/v1/runs?view=row&agent=sim')).items).toEqual([]);
    await open(`/runs/${made.run_id}`);
    await page.getByRole('tab', { name: 'Fate of fields' }).waitFor();
    await page.getByRole('tab', { name: 'Request, raw' }).click();
    await page.getByText('say hello from the turn').first().waitFor();
    await page.getByRole('link', { name: turn.run_id.slice(-6) }).click();
    await page.waitForURL(`**/runs/${turn.run_id}`);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it.each([390, 1024, 1440, 1920])('no figure of the newest runs is cut where the newest one was refused, at %i', async (width) => {
    const { page, context, complaints, open } = await stage.signedIn({ width });
    await call('/e/sim/v1/messages', 'wait 20 ms then say hello');
    await call('/e/sim:openai-chat/v1/messages', 'hi', { top_k: 40 });
    await stage.server.gateway.keeper.settled();
    await open('/');
    await page.locator('.newest .bad:visible', { hasText: 'E001' }).first().waitFor();
    expect(await layoutFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
