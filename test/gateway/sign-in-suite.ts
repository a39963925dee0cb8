import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { captureIo } from '../support/capture-io.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type Account, CLIENT, startIssuer, TestBrowser, type TestIssuer } from '../support/oidc-issuer.ts';

/** People who sign in with an issuer, whichever database holds it. */
export function signInSuite(database: string, databaseUrl: () => Promise<string | undefined>): void {
  describe(`on ${database}`, () => {
    const ANN: Account = { sub: 'sub-ann', name: 'Ann', email: 'ann@example.com', email_verified: true, groups: ['engineers'] };
    const GROUPS = { engineers: { team: 'blue', role: 'member' }, admins: { role: 'admin' }, auditors: { role: 'auditor' } } as const;

    let issuer: TestIssuer;
    let server: TestGateway;

    beforeAll(async () => {
      issuer = await startIssuer(ANN);
      const oidc = { issuer: issuer.url, client_id: CLIENT.id, client_secret: CLIENT.secret, groups: GROUPS };
      const url = await databaseUrl();
      server = await startGateway({
        ...(url === undefined ? {} : { databaseUrl: url }),
        config: { auth: { local: false }, oidc: { ...oidc, scopes: ['openid', 'profile', 'email', 'groups'] } },
      });
      issuer.register(`${server.url}/v1/sign-ins/callback`);
    });
    afterAll(async () => {
      await server.close();
      await issuer.close();
    });
    afterEach(() => {
      issuer.account = ANN;
      issuer.tamper = undefined;
      issuer.keepSignature = false;
    });

    const isCallback = ({ pathname }: URL): boolean => pathname === '/v1/sign-ins/callback';

    /** A browser at the moment when the issuer sends it back. */
    async function back(browser = new TestBrowser()): Promise<{ browser: TestBrowser; address: URL }> {
      return { browser, address: await browser.follow(`${server.url}/v1/sign-ins/start?return_to=/runs`, isCallback) };
    }

    async function signedIn(browser = new TestBrowser()): Promise<{ browser: TestBrowser; page: string; status: number }> {
      const { address } = await back(browser);
      const answer = await browser.open(address.href, { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' } });
      return { browser, page: await answer.text(), status: answer.status };
    }

    const jsonOf = async (answer: Response) => JSON.parse(await answer.text());
    const jsonAt = async (browser: TestBrowser, path: string) => jsonOf(await browser.open(`${server.url}${path}`));
    const admin = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${server.url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json', ...init.headers },
      });
    const userOf = async (id: string) => jsonOf(await admin(`/v1/users/${id}`));

    describe('a browser', () => {
      it('signs in with the issuer, as a user with the team and the role of the group', async () => {
        const { browser, page, status } = await signedIn();
        expect([status, page]).toEqual([200, expect.stringContaining('url=/runs')]);
        expect(await jsonAt(browser, '/v1/console/session')).toMatchObject({
          principal: 'key',
          user: 'ann@example.com',
          scopes: ['read', 'answer', 'agents'],
        });
        expect(await jsonAt(browser, '/v1/sign-ins/current')).toMatchObject({ role: 'member', teams: ['blue'], user: 'ann@example.com' });
        expect(await userOf('ann@example.com')).toMatchObject({ name: 'Ann', role: 'member', teams: ['blue'] });
        expect((await browser.open(`${server.url}/v1/keys`)).status).toBe(403);
        expect((await browser.open(`${server.url}/v1/receipts`)).status).toBe(200);
      });

      it('gets a cookie that no script reads, and no other site sends', async () => {
        const { browser, address } = await back();
        const answer = await browser.open(address.href);
        const [session = '', pending = ''] = answer.headers.getSetCookie();
        expect(session).toMatch(/^abp_console_\d+=abp_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43\d{3}$/);
        expect(pending).toMatch(/^abp_sign_in_\d+=; Path=\/v1\/sign-ins; HttpOnly; SameSite=Lax; Max-Age=0$/);
        expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
      });

      it('keeps its runs from one sign-in to the next', async () => {
        const [first, second] = [(await signedIn()).browser, (await signedIn()).browser];
        const key = async (browser: TestBrowser) => (await jsonAt(browser, '/v1/sign-ins/current')).key;
        expect(await key(first)).toBe(await key(second));
        expect((await jsonAt(first, '/v1/sign-ins')).items.length).toBeGreaterThanOrEqual(2);
      });

      it.each<[string, (url: URL) => void]>([
        ['another state', (url) => url.searchParams.set('state', 'another')],
        ['no state', (url) => url.searchParams.delete('state')],
        ['another code', (url) => url.searchParams.set('code', 'another')],
        ['another issuer', (url) => url.searchParams.set('iss', 'https://elsewhere.example')],
      ])('is refused with %s', async (_, change) => {
        const { browser, address } = await back();
        change(address);
        const answer = await browser.open(address.href);
        expect([answer.status, await answer.text()]).toEqual([401, expect.stringContaining('The sign-in was refused')]);
        expect([...browser.cookies(server.url).keys()]).toEqual([]);
      });

      it.each<[string, (claims: Record<string, unknown>) => Record<string, unknown>]>([
        ['another nonce', (claims) => ({ ...claims, nonce: 'another' })],
        ['no nonce', ({ nonce: _nonce, ...claims }) => claims],
        ['a time that is over', (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1000) - 3600 })],
        ['another audience', (claims) => ({ ...claims, aud: 'somebody-else' })],
        ['another issuer', (claims) => ({ ...claims, iss: 'https://elsewhere.example' })],
      ])('is refused with an identity token of %s', async (_, tamper) => {
        issuer.tamper = tamper;
        const { status, page } = await signedIn();
        expect([status, page]).toEqual([401, expect.stringContaining('The sign-in was refused')]);
      });

      it('is refused with an identity token that the issuer has not signed', async () => {
        issuer.tamper = (claims) => ({ ...claims, groups: ['admins'] });
        issuer.keepSignature = true;
        expect((await signedIn()).status).toBe(401);
      });

      it('signs in where the issuer takes the secret as HTTP Basic alone', async () => {
        const strict = await startIssuer(ANN);
        const oidc = { issuer: strict.url, client_id: CLIENT.id, client_secret: CLIENT.secret, groups: GROUPS };
        const other = await startGateway({
          config: { auth: { local: false }, oidc: { ...oidc, scopes: ['openid', 'profile', 'email', 'groups'] } },
        });
        try {
          strict.register(`${other.url}/v1/sign-ins/callback`, 'client_secret_basic');
          const browser = new TestBrowser();
          const address = await browser.follow(`${other.url}/v1/sign-ins/start`, isCallback);
          expect((await browser.open(address.href)).status).toBe(200);
        } finally {
          await other.close();
          await strict.close();
        }
      });

      it('is refused when another browser began, and when it comes back a second time', async () => {
        const { browser, address } = await back();
        expect((await new TestBrowser().open(address.href)).status).toBe(401);
        expect((await browser.open(address.href)).status).toBe(200);
        expect((await browser.open(address.href)).status).toBe(401);
      });

      it('is led to no other site', async () => {
        for (const path of ['//elsewhere.example', 'https://elsewhere.example', '/\\elsewhere.example', 'javascript:alert(1)'])
          expect(
            (await fetch(`${server.url}/v1/sign-ins/start?return_to=${encodeURIComponent(path)}`, { redirect: 'manual' })).status,
          ).toBe(400);
      });

      it('reaches nothing but the way back from another site', async () => {
        const { browser } = await signedIn();
        const crossSite = { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' } };
        expect((await browser.open(`${server.url}/v1/receipts`, crossSite)).status).toBe(403);
        expect(
          (await browser.open(`${server.url}/v1/sign-ins/callback`, { headers: { ...crossSite.headers, 'sec-fetch-mode': 'cors' } }))
            .status,
        ).toBe(403);
      });

      it('signs out', async () => {
        const { browser } = await signedIn();
        const { sign_in: id } = await jsonAt(browser, '/v1/sign-ins/current');
        const out = await browser.open(`${server.url}/v1/console/session`, { method: 'DELETE', headers: { origin: server.url } });
        expect(out.status).toBe(204);
        const { items } = await jsonOf(await admin('/v1/sign-ins'));
        expect(items.map((one: { id: string }) => one.id)).not.toContain(id);
      });
    });

    describe('groups', () => {
      it('decide anew at every sign-in: one that is gone takes team and role along, also from what is still open', async () => {
        issuer.account = { ...ANN, sub: 'sub-gus', email: 'gus@example.com', groups: ['admins', 'engineers'] };
        const { browser: first } = await signedIn();
        // The first group of the configuration counts.
        expect(await userOf('gus@example.com')).toMatchObject({ role: 'member', teams: ['blue'] });
        issuer.account = { ...issuer.account, groups: ['admins'] };
        await signedIn();
        expect(await userOf('gus@example.com')).toMatchObject({ role: 'admin', teams: [] });
        expect((await first.open(`${server.url}/v1/keys`)).status).toBe(200);
        issuer.account = { ...issuer.account, groups: ['auditors'] };
        await signedIn();
        expect((await first.open(`${server.url}/v1/keys`)).status).toBe(403);
        issuer.account = { ...issuer.account, groups: ['visitors'] };
        const refused = await signedIn();
        expect([refused.status, refused.page]).toEqual([403, expect.stringContaining('none of the groups')]);
        expect((await first.open(`${server.url}/v1/receipts`)).status).toBe(401);
      });

      it('that are all gone close what keys open that were made for the user, until one of them is there again', async () => {
        issuer.account = { ...ANN, sub: 'sub-moe', email: 'moe@example.com', groups: ['admins'] };
        await signedIn();
        const terms = { name: 'ci', user: 'moe@example.com', scopes: { admin: true } };
        const { secret } = await jsonOf(await admin('/v1/keys', { method: 'POST', body: JSON.stringify(terms) }));
        const headers = { 'x-abp-key': secret, 'content-type': 'application/json' };
        const ask = async (path: string): Promise<number> => (await fetch(`${server.url}${path}`, { headers })).status;
        const call = async (): Promise<number> => {
          const body = JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });
          return (await fetch(`${server.url}/e/sim/v1/messages`, { method: 'POST', headers, body })).status;
        };
        expect([await ask('/v1/keys'), await call()]).toEqual([200, 200]);
        issuer.account = { ...issuer.account, groups: ['visitors'] };
        expect((await signedIn()).status).toBe(403);
        expect([await ask('/v1/keys'), await ask('/v1/receipts'), await call()]).toEqual([403, 403, 403]);
        expect(await userOf('moe@example.com')).toMatchObject({ role: 'suspended', teams: [] });
        issuer.account = { ...issuer.account, groups: ['auditors'] };
        expect((await signedIn()).status).toBe(200);
        expect([await ask('/v1/keys'), await ask('/v1/receipts'), await call()]).toEqual([403, 200, 403]);
      });

      it('give nothing back to whom an administrator has suspended, before the first sign-in or after', async () => {
        issuer.account = { ...ANN, sub: 'sub-zoe', email: 'zoe@example.com', groups: ['auditors'] };
        const suspend = async (role: string | null): Promise<Response> =>
          await admin('/v1/users/zoe@example.com', { method: 'PATCH', body: JSON.stringify({ role }) });
        await admin('/v1/users', { method: 'POST', body: JSON.stringify({ id: 'zoe@example.com', role: 'suspended' }) });
        expect((await signedIn()).status).toBe(403);
        expect((await suspend(null)).status).toBe(200);
        expect((await signedIn()).status).toBe(200);
        await suspend('suspended');
        expect((await signedIn()).status).toBe(403);
        issuer.account = { ...issuer.account, groups: ['visitors'] };
        expect((await signedIn()).status).toBe(403);
        issuer.account = { ...issuer.account, groups: ['auditors'] };
        expect((await signedIn()).status).toBe(403);
        expect(await userOf('zoe@example.com')).toMatchObject({ role: 'suspended' });
      });

      it('leave in the audit log what they change, and who has signed in', async () => {
        issuer.account = { ...ANN, sub: 'sub-ned', email: 'ned@example.com', groups: ['admins'] };
        await signedIn();
        await signedIn();
        issuer.account = { ...issuer.account, groups: ['visitors'] };
        await signedIn();
        const { items } = await jsonOf(await admin('/v1/audit?by=system&limit=1000'));
        const ofNed = items.filter((one: { target: string; details: { user?: string } }) =>
          [one.target, one.details.user].includes('ned@example.com'),
        );
        expect(ofNed.map((one: { action: string; outcome: string }) => `${one.action} ${one.outcome}`).toReversed()).toEqual([
          'user.create done',
          'key.create done',
          'sign_in.create done',
          'sign_in.create done',
          'user.change done',
        ]);
        expect(ofNed[0].details).toEqual({ by: 'issuer', role: 'suspended', teams: [] });
      });

      it('leave teams alone that none of them stands for', async () => {
        issuer.account = { ...ANN, sub: 'sub-hal', email: 'hal@example.com' };
        await signedIn();
        await admin('/v1/teams', { method: 'POST', body: JSON.stringify({ id: 'chess' }) });
        await admin('/v1/users/hal@example.com', { method: 'PATCH', body: JSON.stringify({ teams: ['chess', 'blue'] }) });
        await signedIn();
        expect((await userOf('hal@example.com')).teams.toSorted()).toEqual(['blue', 'chess']);
      });
    });

    describe('a user that exists', () => {
      it('is whoever proves the address, and nobody else', async () => {
        for (const id of ['ida@example.com', 'jan@example.com']) await admin('/v1/users', { method: 'POST', body: JSON.stringify({ id }) });
        issuer.account = { ...ANN, sub: 'sub-ida', email: 'ida@example.com' };
        expect((await signedIn()).status).toBe(200);
        issuer.account = { ...ANN, sub: 'sub-mallory', email: 'ida@example.com' };
        expect((await signedIn()).status).toBe(409);
        issuer.account = { ...ANN, sub: 'sub-mallory', email: 'jan@example.com', email_verified: false };
        expect((await signedIn()).status).toBe(409);
        // Written as the user's id, and not the address that it is.
        await admin('/v1/users', { method: 'POST', body: JSON.stringify({ id: 'lea-m@example.com' }) });
        issuer.account = { ...ANN, sub: 'sub-mallory', email: 'lea!m@example.com' };
        expect((await signedIn()).status).toBe(409);
      });

      it('is signed out everywhere when it is deleted', async () => {
        issuer.account = { ...ANN, sub: 'sub-kim', email: 'kim@example.com' };
        const { browser } = await signedIn();
        expect((await admin('/v1/users/kim@example.com', { method: 'DELETE' })).status).toBe(204);
        expect((await browser.open(`${server.url}/v1/receipts`)).status).toBe(401);
      });
    });

    describe('a sign-in', () => {
      it('is ended by an administrator, and by its own user, and by no other', async () => {
        const { browser: ann } = await signedIn();
        issuer.account = { ...ANN, sub: 'sub-lea', email: 'lea@example.com' };
        const { browser: lea } = await signedIn();
        const { sign_in: id } = await jsonAt(ann, '/v1/sign-ins/current');
        expect((await jsonAt(lea, '/v1/sign-ins')).items).toHaveLength(1);
        const end = { method: 'DELETE', headers: { origin: server.url } };
        expect((await lea.open(`${server.url}/v1/sign-ins/${id}`, end)).status).toBe(404);
        expect((await admin(`/v1/sign-ins/${id}`, { method: 'DELETE' })).status).toBe(204);
        expect((await ann.open(`${server.url}/v1/receipts`)).status).toBe(401);
        expect((await lea.open(`${server.url}/v1/sign-ins/current`, end)).status).toBe(204);
        expect((await lea.open(`${server.url}/v1/receipts`)).status).toBe(401);
      });

      it('leaves neither its secret nor that of the server at the issuer in a log', async () => {
        const { browser } = await signedIn();
        const secret = [...browser.cookies(server.url).values()][0] ?? '-';
        expect(secret).toMatch(/^abp_/);
        expect(server.logs()).not.toContain(secret);
        expect(server.logs()).not.toContain(CLIENT.secret);
        expect(await (await admin('/v1/settings')).text()).not.toContain(CLIENT.secret);
      });
    });

    describe('a command line', () => {
      let home: string;
      beforeAll(() => {
        home = mkdtempSync(join(tmpdir(), 'abp-login-'));
      });
      afterAll(() => rmSync(home, { recursive: true, force: true }));

      const abp = async (...words: string[]): Promise<{ code: number; out: string; err: string }> => {
        const io = captureIo();
        const code = await main([...words, '--home', join(home, 'home')], io);
        return { code, out: io.out(), err: io.err() };
      };

      /** Confirms the code, as somebody with a browser does. */
      async function confirm(code: string): Promise<void> {
        const browser = new TestBrowser();
        const form = await (await browser.open(`${issuer.url}/device?user_code=${code}`)).text();
        const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(form) ?? [];
        const body = new URLSearchParams({ xsrf, user_code: code, confirm: 'yes' });
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        const answer = await browser.open(`${issuer.url}/device`, { method: 'POST', headers, body: String(body) });
        let next = answer.headers.get('location');
        for (let steps = 0; next !== null && steps < 20; steps += 1) {
          next = (await browser.open(new URL(next, issuer.url).href)).headers.get('location');
        }
      }

      it('signs in by a code, says who it is, works as that user, and signs out', async () => {
        const io = captureIo();
        const login = main(['login', server.url, '--home', join(home, 'home')], io);
        await expect.poll(() => io.err()).toMatch(/enter the code [A-Z-]+/);
        const [, code = ''] = /enter the code ([A-Z-]+)/.exec(io.err()) ?? [];
        await confirm(code);
        expect([await login, io.out()]).toEqual([0, expect.stringContaining('as ann@example.com (member)')]);
        expect(statSync(join(home, 'home', 'sign-in')).mode & 0o077).toBe(0);
        const { secret } = JSON.parse(readFileSync(join(home, 'home', 'sign-in'), 'utf8'));
        expect(io.out() + io.err()).not.toContain(secret);
        expect((await abp('whoami')).out).toMatch(/^ann@example.com at .*\n {2}role +member\n {2}teams +blue/);
        const said = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'say hi' }] };
        const call = await fetch(`${server.url}/e/sim/v1/messages`, {
          method: 'POST',
          headers: { 'x-abp-key': secret, 'content-type': 'application/json' },
          body: JSON.stringify(said),
        });
        const run = call.headers.get('x-abp-run-id') ?? '';
        await fetch(`${server.url}/v1/receipts/${run}?wait=30`, { headers: { 'x-abp-key': secret } });
        // Everything that a server answers comes from there, and nothing from the empty home of the command.
        expect(JSON.parse((await abp('receipts', 'list', '--json')).out).items).toMatchObject([{ run_id: run }]);
        expect(await abp('receipts', 'show', run)).toMatchObject({
          code: 0,
          err: '',
          out: expect.stringContaining('1 receipt checked'),
        });
        // An auditor reads neither what was said nor whose rights the member has.
        await admin('/v1/users/ann@example.com', { method: 'PATCH', body: JSON.stringify({ role: 'auditor' }) });
        expect(await abp('receipts', 'show', run)).toMatchObject({ code: 0, err: '', out: expect.stringContaining('1 receipt checked') });
        expect(await abp('receipts', 'verify', '--all')).toMatchObject({ code: 0 });
        await admin('/v1/users/ann@example.com', { method: 'PATCH', body: JSON.stringify({ role: 'member' }) });
        expect(JSON.parse((await abp('recordings', 'list', '--json')).out).items).toEqual([]);
        expect(await abp('agents', 'create', 'helper', '--capability', 'test_math')).toMatchObject({ code: 0 });
        expect(JSON.parse((await abp('agents', 'list', '--json')).out).items).toMatchObject([{ name: 'helper' }]);
        expect((await abp('chat', 'helper', '--message', 'say from over there')).out).toContain('from over there');
        expect((await jsonOf(await admin('/v1/agents'))).items).toMatchObject([{ name: 'helper' }]);
        expect((await abp('keys', 'list')).code).toBe(5);
        expect((await abp('sign-ins', 'list')).out).toContain('command');
        await fetch(`${server.url}/v1/sign-ins/current`, { method: 'DELETE', headers: { 'x-abp-key': secret } });
        expect(await abp('receipts', 'list')).toMatchObject({
          code: 5,
          err: expect.stringMatching(/sign-in of ann@example.com .* has ended/),
        });
        expect((await abp('logout')).code).toBe(0);
        expect((await fetch(`${server.url}/v1/receipts`, { headers: { 'x-abp-key': secret } })).status).toBe(401);
        expect((await abp('logout')).code).toBe(5);
      });

      it('is told while nobody has confirmed, and refused with a code of nobody', async () => {
        const ask = (path: string, body: object): Promise<Response> =>
          fetch(`${server.url}/v1/sign-ins${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(body),
          });
        const { device } = await jsonOf(await ask('/device', {}));
        const pending = await ask('/device/token', { device });
        expect([pending.status, await jsonOf(pending)]).toEqual([202, { status: 'pending', slow_down: false }]);
        expect((await ask('/device/token', { device: `${device.slice(0, -4)}AAAA` })).status).toBe(401);
        expect((await ask('/device/token', { device: 'x' })).status).toBe(401);
      });
    });
  });
}
