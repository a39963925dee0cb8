import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { type ConsoleStage, startConsole, type Visitor, visit } from '../support/console.ts';
import { needing } from '../support/needs.ts';
import { type Account, CLIENT, startIssuer, type TestIssuer } from '../support/oidc-issuer.ts';

const missing = await browserMissing();
const ANN: Account = { sub: 'sub-ann', name: 'Ann', email: 'ann@example.com', email_verified: true, groups: ['engineers'] };
const GROUPS = { engineers: { team: 'blue', role: 'member' }, admins: { role: 'admin' } } as const;

let issuer: TestIssuer;
let stage: ConsoleStage;

/** A real browser, for which the issuer is another site than the console. */
describe.skipIf(missing !== undefined)(needing('people who sign in to the console with an issuer', missing), () => {
  beforeAll(async () => {
    issuer = await startIssuer(ANN, 'localhost');
    const scopes = ['openid', 'profile', 'email', 'groups'];
    const oidc = { issuer: issuer.url, client_id: CLIENT.id, client_secret: CLIENT.secret, groups: GROUPS, scopes };
    stage = await startConsole({ config: { auth: { local: false }, oidc } });
    issuer.register(`${stage.server.url}/v1/sign-ins/callback`);
  });
  afterAll(async () => {
    await stage.close();
    await issuer.close();
  });
  afterEach(() => {
    issuer.account = ANN;
    issuer.tamper = undefined;
  });

  const visitor = async (browser: Browser = stage.browser): Promise<Visitor> => await visit(browser, stage.server.url);

  /** Opens a page as nobody and follows its link to the issuer. */
  async function comesIn(path: string): Promise<Visitor> {
    const one = await visitor();
    await one.page.goto(`${stage.server.url}${path}`);
    await one.page.getByRole('link', { name: 'Sign in', exact: true }).click();
    return one;
  }

  const admin = async (method: string, path: string) =>
    await fetch(`${stage.server.url}${path}`, { method, headers: { 'x-abp-key': stage.server.token } });
  const sessionOf = async ({ page }: Visitor) =>
    await page.evaluate(async () => ({
      status: (await fetch('/v1/receipts')).status,
      session: await (await fetch('/v1/console/session')).json(),
    }));

  it('come back to the page that the console has gone to since it was opened, with its filters', async () => {
    const one = await visitor();
    await one.page.goto(`${stage.server.url}/`);
    await one.page.getByRole('link', { name: 'Sign in', exact: true }).waitFor();
    await one.page.getByRole('link', { name: 'Usage' }).first().click();
    await one.page.waitForURL(/\/usage/);
    await one.page.evaluate("history.replaceState(history.state, '', '/usage?by=key'); dispatchEvent(new PopStateEvent('popstate'))");
    await one.page.getByRole('link', { name: 'Sign in', exact: true }).click();
    await one.page.getByText('ann@example.com').first().waitFor();
    expect(new URL(one.page.url()).pathname + new URL(one.page.url()).search).toBe('/usage?by=key');
  });

  it('come back from it to the page that they left, as themselves, with the role of their group', async () => {
    const one = await comesIn('/usage');
    await one.page.waitForURL(`${stage.server.url}/usage`);
    await one.page.getByText('ann@example.com').first().waitFor();
    expect(await one.page.getByRole('link', { name: 'Sign in', exact: true }).count()).toBe(0);
    expect(await sessionOf(one)).toMatchObject({ status: 200, session: { user: 'ann@example.com', scopes: ['read', 'answer', 'agents'] } });
    // A reload sends the cookie again, and no script has it.
    await one.page.reload();
    await one.page.getByText('ann@example.com').first().waitFor();
    expect(await one.page.evaluate('document.cookie')).toBe('');
    const cookies = await one.context.cookies(stage.server.url);
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict', path: '/' }]);
  });

  it('are out at once where an administrator ends their sign-in', async () => {
    const one = await comesIn('/runs');
    await one.page.waitForURL(`${stage.server.url}/runs`);
    await one.page.getByText('ann@example.com').first().waitFor();
    const { items } = (await (await admin('GET', '/v1/sign-ins')).json()) as { items: { id: string }[] }; // the route's answer
    expect(items.length).toBeGreaterThan(0);
    for (const { id } of items) expect((await admin('DELETE', `/v1/sign-ins/${id}`)).status).toBe(204);
    expect((await sessionOf(one)).status).toBe(401);
    await one.page.reload();
    await one.page.getByRole('link', { name: 'Sign in', exact: true }).waitFor();
  });

  it('read why they were not let in, and stay outside', async () => {
    issuer.tamper = (claims) => ({ ...claims, nonce: 'another' });
    const one = await comesIn('/runs');
    await one.page.getByRole('heading', { name: 'Not signed in' }).waitFor();
    expect(await one.context.cookies(stage.server.url)).toEqual([]);
    issuer.tamper = undefined;
    await one.page.getByRole('link', { name: 'Sign in again' }).click();
    await one.page.getByText('ann@example.com').first().waitFor();
  });
});
