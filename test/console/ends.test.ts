import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeGroup } from '../receipts/node-group.ts';
import { browserMissing } from '../support/browser.ts';
import { type ConsoleStage, makeRuns, seriousFaults, startConsole } from '../support/console.ts';
import { post } from '../support/http-call.ts';
import { needing } from '../support/needs.ts';
import { freshDatabase } from '../support/postgres.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

const missing = await browserMissing();
const MINUTE = 60_000;
const BUSY = JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });

describe.skipIf(missing !== undefined)(needing('runs that did not end at once, in a browser', missing), () => {
  describe('a call that was tried three times', () => {
    let stage: ConsoleStage;
    let upstream: RecordingUpstream;
    beforeAll(async () => {
      upstream = await startUpstream();
      upstream.answer((socket) => void socket.write(whole(BUSY, { status: '529 Overloaded' })));
      const routes = [{ match: 'smart', to: 'claude/real', attempts: 2, fallback: ['sim/backup'] }];
      stage = await startConsole({ config: { engines: { claude: { url: upstream.url, key: 'k' } }, routes: routes as never } });
    });
    afterAll(async () => {
      await stage?.close();
      await upstream?.close();
    });

    it('has a lane for each try that did not count, with its reason, and no time is counted twice', async () => {
      const reply = await post(`${stage.server.url}/v1/messages`, {
        ...{ model: 'smart', max_tokens: 50 },
        messages: [{ role: 'user', content: 'Wait 40 ms. Say exactly: "hi"' }],
      });
      expect(reply.status).toBe(200);
      const { page, context, complaints, open } = await stage.signedIn();
      await open(`/runs/${reply.headers['x-abp-run-id']}`);
      const lanes = page.getByRole('region', { name: 'Timeline' });
      await lanes.getByRole('img', { name: /^1\. claude: .* 529/ }).waitFor();
      await lanes.getByRole('img', { name: /^2\. claude: .* 529/ }).waitFor();
      expect(await lanes.locator('.lane .lb').allTextContents()).toEqual([
        ...['Backplane', '1. claude', '2. claude', 'Engine silent', 'Answer arrives'],
      ]);
      const bars: readonly (readonly [number, number])[] = await page.evaluate(
        '[...document.querySelectorAll(".timeline .tr > b")].map((bar) => bar.getBoundingClientRect()).map(({ left, right }) => [left, right])',
      );
      for (const [at, [left]] of bars.entries()) if (at > 0) expect(left + 3).toBeGreaterThanOrEqual(bars[at - 1]?.[1] ?? 0);
      await page.getByRole('tab', { name: 'Attempts 3' }).click();
      const rows = page.getByRole('row');
      await rows.filter({ hasText: 'the engine answered 529' }).first().waitFor();
      expect(await rows.filter({ hasText: '529' }).count()).toBe(2);
      await rows.filter({ hasText: 'sim' }).getByText('200').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await context.close();
    });
  });

  it('a receipt that was changed turns its slip vermilion, names the fault first, and says what was not looked at', async () => {
    const stage = await startConsole();
    await makeRuns(stage.server, 1);
    const { page, context, open } = await stage.signedIn();
    await page.route('**/proof*', async (route) => {
      const answer = await route.fetch();
      const proof = (await answer.json()) as { lines: string[] };
      const lines = proof.lines.map((line, at) => (at === 0 ? line.replace('"claude-sonnet-4-5"', '"claude-sonnet-4-6"') : line));
      await route.fulfill({ response: answer, json: { ...proof, lines } });
    });
    await open('/runs');
    await page.locator('.dl-body .dl-row').last().dblclick();
    await page.getByRole('alert').getByText('Does not verify').waitFor();
    const colour = (selector: string, property: string): Promise<string> =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
    expect(await colour('.slip .stamp', 'color')).toBe('rgb(179, 38, 30)');
    expect(await colour('.slip', 'backgroundColor')).toBe('rgb(250, 226, 222)');
    const slip = page.locator('.slip');
    await slip.getByText('Content hash does not match').waitFor();
    expect(await slip.getByText('does not hold', { exact: true }).count()).toBe(1);
    await slip.getByText('not looked at: what stands before it does not hold').first().waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await context.close();
    await stage.close();
  });

  it('a run that another node closed shows how it really ended once its own node has come back', async () => {
    const databaseUrl = await freshDatabase();
    const group = await nodeGroup(databaseUrl);
    const [a, b] = [await group.node('node_a'), await group.node('node_b')];
    const [run, silent] = [await a.begin(), await a.begin()];
    await a.beat();
    await group.pass(3 * MINUTE, [b]);
    await a.end(run);
    const stage = await startConsole({ databaseUrl });
    const { page, context, complaints, open } = await stage.signedIn();
    await open(`/runs/${run}`);
    await page.getByText('the node node_a that served this run was lost; the node node_b closed the run').waitFor();
    const late = page.getByRole('region', { name: 'How it ended' });
    await late.getByRole('button', { name: 'Ask its own node' }).click();
    await late.getByText('completed').waitFor();
    await late.getByText(/entry 1 of its chain/).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await open(`/runs/${silent}`);
    await late.getByRole('button', { name: 'Ask its own node' }).click();
    await late.getByText('Nothing is known beyond this receipt.').waitFor();
    // A browser tells of every answer that is not found, and the second run has none.
    expect(complaints.filter((one) => !/status of 404/.test(one))).toEqual([]);
    await context.close();
    await stage.close();
    await group.close();
  });
});
