import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { type ConsoleStage, makeRuns, seriousFaults, startConsole, type Visitor } from '../support/console.ts';
import { needing } from '../support/needs.ts';

let stage: ConsoleStage;
const missing = await browserMissing();

async function admin<T>(method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(`${stage.server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${stage.server.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.ok, `${method} ${path}`).toBe(true);
  return (await answer.json()) as T;
}

/** A signed-in visitor of one page, who must have nothing to complain about but refusals that the test asks for: browsers tell each. */
async function visiting(path: string, work: (page: Page, visitor: Visitor) => Promise<void>, refusals = 0): Promise<void> {
  const visitor = await stage.signedIn();
  await visitor.open(path);
  await work(visitor.page, visitor);
  const [refused, others] = [/the server responded with a status of 4\d\d/, visitor.complaints];
  expect(others.filter((one) => !refused.test(one))).toEqual([]);
  expect(others.filter((one) => refused.test(one))).toHaveLength(refusals);
  await visitor.context.close();
}

/** How many points of the right edge of the chart have the colour of its first series. Runs in the browser. */
const LAST_BAR = `(() => {
  const canvas = document.querySelector('.bar-chart canvas');
  const tint = getComputedStyle(document.documentElement).getPropertyValue('--c1').trim();
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(tint.slice(at, at + 2), 16));
  const from = Math.floor(canvas.width * 0.94);
  const { data } = canvas.getContext('2d').getImageData(from, 0, canvas.width - from, canvas.height);
  let many = 0;
  for (let at = 0; at < data.length; at += 4) if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) many += 1;
  return many;
})()`;

const verdict = (page: Page) => page.locator('output.verd');

describe.skipIf(missing !== undefined)(needing('Playground, Matrix, Agents and Settings', missing), () => {
  beforeAll(async () => {
    stage = await startConsole({ config: { routes: [{ match: 'from-the-file', to: 'sim' }] } });
    await makeRuns(stage.server, 2);
  });
  afterAll(() => stage?.close());

  describe('the Playground', () => {
    it('removes a field that stops a request, and says what it would cost', () =>
      visiting('/playground?to=sim:openai-chat', async (page) => {
        await verdict(page).getByText('Would be refused').waitFor();
        await page.getByRole('list', { name: 'Fields that stop it' }).getByRole('button', { name: 'remove' }).click();
        await verdict(page).getByText('Would be sent').waitFor();
        await page.getByRole('region', { name: 'The engine gets' }).getByLabel('What the engine gets').waitFor();
        await page.getByRole('button', { name: 'show' }).first().click();
        await verdict(page).getByText('bytes equal').waitFor();
        await verdict(page)
          .getByText(/at most \$0\.0/)
          .waitFor();
      }));

    it('asks each engine for its own model, and shows the request with it', () =>
      visiting('/playground?to=openai', async (page) => {
        const model = page.getByLabel('Model', { exact: true });
        const row = (engine: string) => page.getByRole('row', { name: new RegExp(`^${engine} `) });
        await row('claude').getByText('claude-sonnet-4-5 as you send it').waitFor();
        await model.fill('gpt-5.1');
        await row('openai').getByText('gpt-5.1').waitFor();
        await row('claude').getByRole('button', { name: 'show' }).click();
        await model.selectText();
        await model.pressSequentially('claude-haiku-4-5');
        await row('gemini').getByText('claude-haiku-4-5 as you send it').waitFor();
        await row('openai').getByText('gpt-5.1', { exact: true }).waitFor();
        await row('openai').getByRole('button', { name: 'show' }).click();
        await page.getByLabel('The request you send, as JSON').getByText('"gpt-5.1"').waitFor();
        expect(await model.inputValue()).toBe('gpt-5.1');
      }));

    it('offers an emulation where the server has one', () =>
      visiting('/playground?to=gemini', async (page) => {
        await page.getByLabel('Example', { exact: true }).selectOption('thinking');
        await verdict(page).getByText('Would be refused').waitFor();
        await page.getByRole('button', { name: 'emulate', exact: true }).first().click();
        await verdict(page).getByText('Would be sent').waitFor();
        await page.waitForURL(/emulate=extended_thinking/);
      }));

    it('takes the result of a tool and goes on with the conversation', () =>
      visiting('/playground', async (page) => {
        await page.getByRole('button', { name: /^Send/ }).click();
        const answer = page.getByRole('region', { name: 'Answer', exact: true });
        await answer.getByLabel('Give it a result').fill('{"fixes":["lease race"]}');
        await answer.getByRole('button', { name: 'Go on' }).click();
        await answer.getByText('lease race').waitFor();
        await page.getByLabel('Sent in this visit').waitFor();
      }));

    it('says where the text breaks while it is no JSON, and keeps what was known', () =>
      visiting('/playground', async (page) => {
        await verdict(page).getByText('Would be sent').waitFor();
        await page.getByLabel('The request you send, as JSON').press('Control+End');
        await page.keyboard.type(' ,');
        await verdict(page)
          .getByText(/Not JSON yet/)
          .waitFor();
        await page.getByLabel('What the engine gets').waitFor();
        expect(await page.getByRole('button', { name: /^Send/ }).isDisabled()).toBe(true);
      }));

    it('loads a run by keys alone, in the dialect it was sent in', () =>
      visiting('/playground', async (page) => {
        await page.keyboard.press('Control+o');
        await page.keyboard.type('openai-chat');
        await page.getByRole('dialog').getByRole('option').first().waitFor();
        await page.keyboard.press('Enter');
        await page.waitForURL(/run=run_/);
        await expect.poll(() => page.getByLabel('Dialect', { exact: true }).inputValue()).toBe('openai-chat');
        await page.getByText(/^as in …/).waitFor();
      }));
  });

  describe('the Matrix', () => {
    it('is walked by arrows, pinned, and leads to the Playground', () =>
      visiting('/matrix', async (page) => {
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('ArrowRight');
        await page.getByRole('complementary', { name: 'The selected cell' }).getByText('openai, openai-chat').waitFor();
        await page.keyboard.press('Enter');
        await page.getByText('pinned').waitFor();
        await page.keyboard.press('p');
        await page.waitForURL(/playground\?to=openai&from=openai-chat/);
      }));

    it('asks who meets requirements and says what the others lack', () =>
      visiting('/matrix?row=engine:claude&col=logprobs', async (page) => {
        await page.getByLabel('or ask:').fill('logprobs=native pdf_input=native');
        await page.getByLabel('or ask:').press('Enter');
        await page
          .locator('output.asked')
          .getByText(/gemini/)
          .waitFor();
        await page.getByText('What it lacks of what you ask').waitFor();
      }));

    it('finds models and tells what tokens would cost', () =>
      visiting('/matrix?kind=models&q=claude-sonnet', async (page) => {
        const first = page.getByRole('region', { name: 'Models' }).locator('tbody tr').first();
        await first
          .getByText(/\$0\.0/)
          .last()
          .waitFor();
        const before = await first.locator('td').last().textContent();
        await page.getByLabel('tokens in').fill('1000000');
        await expect.poll(() => first.locator('td').last().textContent()).not.toBe(before);
      }));
  });

  it('an agent is made with settings from a form, changed, and its order is moved by keys', () =>
    visiting('/agents?new=true', async (page) => {
      await page.getByRole('button', { name: /clerk/ }).click();
      await page.getByRole('button', { name: 'add Sandbox' }).click();
      await page.locator('.picked summary').click();
      await page.getByLabel('timeout_ms').fill('2000');
      await page.getByRole('button', { name: 'move sandbox, with Alt and the arrows' }).press('Alt+ArrowUp');
      await page.getByRole('complementary', { name: 'What it would be' }).getByText('execute_code', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Make it' }).click();
      await page.getByLabel('Message clerk').waitFor();
      const { items } = await admin<{ items: { capabilities: object[] }[] }>('GET', '/v1/agents');
      expect(items[0]?.capabilities).toMatchObject([
        { capability_id: 'sandbox', config: { timeout_ms: 2000 } },
        { capability_id: 'current_time' },
      ]);
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      await page.getByLabel('timeout_ms').waitFor({ state: 'attached' });
      await page.locator('.picked summary').click();
      await page.getByLabel('timeout_ms').fill('99');
      await page.locator('.picked').getByRole('alert').waitFor();
      expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    }));

  describe('Settings', () => {
    it('keep routes, refuse one that leads nowhere, and leave those of the file alone', () =>
      visiting(
        '/settings/routes',
        async (page) => {
          await page.getByText('from-the-file').waitFor();
          await page.getByRole('button', { name: 'Add a route' }).click();
          await page.getByLabel('Model of route 1').fill('claude-*');
          await page.getByLabel('Target of route 1').fill('gemni');
          await page.getByRole('button', { name: 'Save' }).click();
          await page
            .getByRole('alert')
            .getByText(/did you mean gemini/)
            .waitFor();
          await page.getByLabel('Target of route 1').fill('sim/sim-1');
          await page.getByRole('button', { name: 'Save' }).click();
          await expect.poll(() => stage.server.gateway.routes.kept.map(({ to }) => to)).toEqual(['sim/sim-1']);
          await expect.poll(() => page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
        },
        1,
      ));

    it('make a team, a user, a key with limits and a budget, each shown with its sentence', () =>
      visiting('/settings/people', async (page, { open }) => {
        await page.getByLabel('team', { exact: true }).fill('docs');
        await page.getByRole('button', { name: 'New team' }).click();
        await page.getByRole('cell', { name: 'docs', exact: true }).waitFor();
        await page.getByLabel('user', { exact: true }).fill('ann@example.com');
        await page.getByRole('button', { name: 'New user' }).click();
        await page.getByRole('cell', { name: 'ann@example.com' }).first().waitFor();
        await open('/settings/keys');
        await page.getByLabel('Name of the key').fill('docs-team');
        await page.getByLabel('Engines').fill('claude gemini');
        await page.getByText('Rights, limits, owner').click();
        await page.getByLabel('calls at a time').fill('4');
        await page.getByLabel('Team', { exact: true }).selectOption('docs');
        await page.getByRole('button', { name: 'New key' }).click();
        await page.getByText('Shown once:').waitFor();
        await page.getByText(/may call engines claude and gemini; at most 4 at a time; ends/).waitFor();
        await open('/settings/budgets');
        await page.getByLabel('Which key').selectOption({ label: 'docs-team' });
        await page.getByLabel('US dollars').fill('5');
        await page.getByRole('button', { name: 'New budget' }).click();
        await page.getByText('$0 of $5.00').waitFor();
      }));

    it('verify the whole chain with progress, and check an engine for free', () =>
      visiting('/settings/trust', async (page, { open }) => {
        await page.getByRole('button', { name: 'Verify all' }).click();
        await page.getByText(/all \d+ entries verify/).waitFor();
        expect(await page.getByRole('row', { name: /this browser/ }).count()).toBe(1);
        await open('/settings/engines');
        await page.getByRole('row', { name: /^Sim/ }).getByRole('button', { name: 'Check' }).click();
        await page.getByText(/^answers, /).waitFor();
      }));
  });

  it('Usage draws the newest bucket, which stands at the edge of the chart', () =>
    visiting('/usage?measure=runs&span=86400000', async (page) => {
      await page.locator('.bar-chart canvas').waitFor();
      await expect.poll(() => page.evaluate(LAST_BAR)).toBeGreaterThan(100);
    }));

  it('Usage says in words why calls were refused, and leads to those runs alone', () =>
    visiting('/usage', async (page) => {
      const refused = page.getByRole('region', { name: 'Refused before spending' });
      await refused.getByRole('link', { name: /Top-k sampling is not supported by .* 1, without a key to sim/ }).click();
      await page.getByText('“Top-k sampling').first().waitFor();
      expect(await page.locator('.dl-body .dl-row').count()).toBe(1);
    }));

  it('Usage says what the calls would have cost elsewhere, and tries recorded ones there', () =>
    visiting('/usage', async (page) => {
      const panel = page.getByRole('region', { name: 'What if I switched?' });
      await panel.getByLabel('Another engine and model').fill('gemini/gemini-2.5-pro');
      await page.keyboard.press('Enter');
      const row = panel.getByRole('row', { name: /gemini-2\.5-pro/ });
      await row
        .getByText(/^(?:< )?\$/)
        .first()
        .waitFor();
      await row.getByText(/would be sent|refused/).waitFor();
    }));

  it('what a reader has chosen stands in the address, and a colleague who follows it sees the same', () =>
    visiting('/', async (page, { open }) => {
      const { items } = await admin<{ items: { run_id: string }[] }>('GET', '/v1/runs?view=row&mode=mapped&status=completed&limit=1');
      for (const [path, name, says] of [
        ['/', 'curl', 'sdk=curl'],
        ['/runs', 'Live', 'live=off'],
        [`/runs/${items[0]?.run_id}`, 'Losses', 'fates=losses'],
        ['/agents', 'Limits', 'part=limits'],
      ] as const) {
        await open(path);
        const button = page.getByRole('button', { name, exact: name !== 'Live' && name !== 'Losses' }).first();
        const before = await button.getAttribute('aria-pressed');
        await button.click();
        await page.waitForURL(`**${path}?${says}`);
        await open(`${path}?${says}`);
        expect([path, await button.getAttribute('aria-pressed')]).toEqual([path, before === 'true' ? 'false' : 'true']);
      }
    }));

  it('the palette replays the selected run from its recording and opens the pair', () =>
    visiting('/runs', async (page) => {
      await page.keyboard.press('j');
      await page.getByRole('complementary', { name: 'Peek' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.type('from its recording');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Compare' }).waitFor();
    }));

  it.each(['light', 'dark'] as const)('no page of these has a serious fault of access in %s', async (theme) => {
    for (const width of [1440, 390]) {
      const { page, context, complaints, open } = await stage.signedIn({ theme, width });
      const paths = [
        '/playground',
        '/playground?to=sim:openai-chat',
        '/matrix',
        '/matrix?kind=models&q=claude',
        '/agents?new=true',
        '/agents',
      ];
      const settings = ['engines', 'routes', 'keys', 'people', 'budgets', 'recording', 'trust'].map((section) => `/settings/${section}`);
      for (const path of [...paths, ...settings]) {
        await open(path);
        expect(await seriousFaults(page), `${path} at ${width}`).toEqual([]);
      }
      expect(complaints).toEqual([]);
      await context.close();
    }
  });
});
