import { createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jwtVerify } from 'jose';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type GatewayOptions, startGateway, type TestGateway } from '../support/gateway.ts';
import { type PostReceiver, startReceiver } from '../support/posts.ts';
import { type PushBrowser, pushBrowser } from '../support/push-browser.ts';

/** Browsers that are told that something waits, whichever database holds who they are. */
export function pushSuite(database: string, databaseUrl: () => Promise<string | undefined>): void {
  describe(`notes to browsers on ${database}`, () => {
    afterEach(() => vi.unstubAllEnvs());

    async function start(service: PostReceiver, options: GatewayOptions = {}): Promise<TestGateway> {
      const url = options.databaseUrl ?? (await databaseUrl());
      const config = { console: { web_push: true, push_contact: 'mailto:ops@example.com', push_hosts: [new URL(service.url).host] } };
      const server = await startGateway({ config, ...options, ...(url === undefined ? {} : { databaseUrl: url }) });
      onTestFinished(server.close);
      return server;
    }

    const asking = (server: TestGateway, method: string, body?: object, headers: Record<string, string> = {}): RequestInit => ({
      method,
      headers: { origin: server.url, ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

    async function ask(server: TestGateway, path: string, init: RequestInit): Promise<{ status: number; body: never }> {
      const answer = await fetch(`${server.url}${path}`, init);
      const text = await answer.text();
      return { status: answer.status, body: (text === '' ? undefined : JSON.parse(text)) as never }; // the shape that each test knows
    }

    interface Paired extends PushBrowser {
      readonly cookie: string;
      readonly endpoint: string;
      call(method: string, body?: object): Promise<{ status: number; body: never }>;
    }

    /** A browser that was paired, and asks to be told at a path of its own. */
    async function paired(server: TestGateway, service: PostReceiver, name: string, user?: string): Promise<Paired> {
      const { code } = server.gateway.browsers.sessions.invite('answer', 60_000, user);
      const answer = await fetch(`${server.url}/v1/console/session`, asking(server, 'POST', { code }));
      const cookie = (answer.headers.get('set-cookie') ?? '').split('; ')[0] ?? '';
      const browser = pushBrowser();
      const endpoint = `${service.url}/${name}`;
      const call = (method: string, body?: object) => ask(server, '/v1/console/push', asking(server, method, body, { cookie }));
      expect(await call('PUT', { endpoint, keys: browser.keys })).toEqual({ status: 204, body: undefined });
      return { ...browser, cookie, endpoint, call };
    }

    const LAUNCH = {
      type: 'typescript',
      name: 'launch',
      description: 'Launches.',
      parameters: { type: 'object', properties: { target: { type: 'string' } } },
      policy: 'requires_approval',
      source: 'export default () => ({});',
    };

    /** Makes agents ask; each question waits under the path that is returned. */
    async function questions(server: TestGateway, count: number, headers: Record<string, string> = {}): Promise<string[]> {
      const post = async (path: string, body: object) =>
        (await ask(server, path, asking(server, 'POST', body, headers))).body as { id: string };
      await post('/v1/capabilities', { id: 'danger', name: 'Danger', description: 'Must be approved.', tools: [LAUNCH] });
      const agent = await post('/v1/agents', { name: 'Nora', system_prompt: '', model: 'sim/sim-1', capabilities: ['danger'] });
      for (let left = count; left > 0; left -= 1) {
        const session = await post('/v1/sessions', { agent_id: agent.id });
        const text = 'call the tool launch with {"target": "moon"}';
        await post(`/v1/sessions/${session.id}/messages`, { message: { content: [{ type: 'text', text }] } });
      }
      const open = async (): Promise<string[]> => {
        const { items } = (await ask(server, '/v1/interactions', asking(server, 'GET', undefined, { 'x-abp-key': server.token }))).body as {
          items: { answer: { path: string } }[];
        };
        return items.map(({ answer }) => answer.path);
      };
      await expect.poll(async () => (await open()).length).toBeGreaterThanOrEqual(count);
      return await open();
    }

    const told = (service: PostReceiver, name: string) => service.posts.filter(({ path }) => path === `/${name}`);
    const lastNote = (service: PostReceiver, browser: PushBrowser, name: string): string | undefined => {
      const last = told(service, name).at(-1);
      return last === undefined ? undefined : browser.read(last.bytes);
    };

    it('say how many questions wait, encrypted and signed, and nothing of the questions', async () => {
      const service = await startReceiver();
      const server = await start(service);
      const browser = await paired(server, service, 'phone');
      const { key, on } = (await browser.call('GET')).body as { key: string; on: boolean };
      expect(on).toBe(true);
      await questions(server, 2);
      await expect.poll(() => lastNote(service, browser, 'phone')).toBe('{"waiting":2}');
      const [post] = told(service, 'phone');
      expect(post?.headers).toMatchObject({ topic: 'abp-inbox', 'content-encoding': 'aes128gcm', urgency: 'high' });
      expect(Number(post?.headers.ttl)).toBeGreaterThan(11 * 3600);
      expect(Number(post?.headers.ttl)).toBeLessThanOrEqual(12 * 3600);
      const [, token = '', k] = /^vapid t=(.+), k=(.+)$/.exec(post?.headers.authorization ?? '') ?? [];
      expect(k).toBe(key);
      const point = Buffer.from(key, 'base64url');
      const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
      const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y } as never, format: 'jwk' }); // both are there
      const { payload } = await jwtVerify(token, publicKey, { audience: new URL(service.url).origin });
      expect(payload.sub).toBe('mailto:ops@example.com');
      expect(service.posts.map(({ body }) => body).join()).not.toContain('moon');
      expect(server.logs()).not.toContain('/phone');
    });

    it('tell each question once, however often it is looked for, and nothing when the last was answered', async () => {
      const service = await startReceiver();
      const server = await start(service);
      await paired(server, service, 'phone');
      const [first = ''] = await questions(server, 1);
      await expect.poll(() => told(service, 'phone').length).toBe(1);
      await ask(server, first, asking(server, 'POST', { decision: 'deny' }));
      const other = await paired(server, service, 'other');
      await questions(server, 1);
      await expect.poll(() => lastNote(service, other, 'other')).toBe('{"waiting":1}');
      await expect.poll(() => told(service, 'phone').length).toBe(2);
    });

    it('are tried again after a fault, and end where the service knows the browser no more', async () => {
      const service = await startReceiver();
      const server = await start(service);
      const browser = await paired(server, service, 'phone');
      service.answer(503);
      await questions(server, 1);
      await expect.poll(() => told(service, 'phone').length).toBe(1);
      service.answer(201);
      await expect.poll(() => told(service, 'phone').length, { timeout: 20_000 }).toBe(2);
      await expect.poll(() => Object.fromEntries(server.gateway.browsers.notes?.tries ?? [])).toEqual({ failed: 1, delivered: 1 });
      service.answer(410);
      await questions(server, 1);
      await expect.poll(async () => ((await browser.call('GET')).body as { on: boolean }).on).toBe(false);
      const rows = await server.gateway.store.db.selectFrom('notices').selectAll().where('webhook', 'like', 'push %').execute();
      expect(rows).toEqual([]);
    });

    it('end with the sign-in: signed out, revoked, switched off, or its user removed', async () => {
      const service = await startReceiver();
      const server = await start(service);
      const admin = { 'x-abp-key': server.token };
      await ask(server, '/v1/users', asking(server, 'POST', { id: 'ann' }, admin));
      const left = await paired(server, service, 'left');
      const out = await paired(server, service, 'out');
      const off = await paired(server, service, 'off');
      await paired(server, service, 'ann', 'ann');
      await paired(server, service, 'revoked');
      const browsers = (await ask(server, '/v1/console/browsers', asking(server, 'GET', undefined, admin))).body as {
        items: { id: string }[];
      };
      const last = browsers.items.toSorted((a, b) => a.id.localeCompare(b.id)).at(-1);
      expect((await ask(server, `/v1/console/browsers/${last?.id}`, asking(server, 'DELETE', undefined, admin))).status).toBe(204);
      expect((await ask(server, '/v1/console/session', asking(server, 'DELETE', undefined, { cookie: out.cookie }))).status).toBe(204);
      expect((await off.call('DELETE')).status).toBe(204);
      expect((await ask(server, '/v1/users/ann', asking(server, 'DELETE', undefined, admin))).status).toBeLessThan(300);
      await questions(server, 1);
      await expect.poll(() => lastNote(service, left, 'left')).toBe('{"waiting":1}');
      expect(service.posts.map(({ path }) => path)).toEqual(['/left']);
      await expect
        .poll(async () => await server.gateway.store.db.selectFrom('push_subscriptions').select('endpoint').execute())
        .toEqual([{ endpoint: left.endpoint }]);
    });

    it('tell a browser of one user what that user is asked, and of nobody else’s questions', async () => {
      const service = await startReceiver();
      const server = await start(service);
      const admin = { 'x-abp-key': server.token };
      await ask(server, '/v1/users', asking(server, 'POST', { id: 'ann' }, admin));
      const { secret } = (
        await ask(server, '/v1/keys', asking(server, 'POST', { name: 'ann', user: 'ann', scopes: { planes: ['agent'] } }, admin))
      ).body as { secret: string };
      const hers = await paired(server, service, 'hers', 'ann');
      const all = await paired(server, service, 'all');
      await questions(server, 1);
      await expect.poll(() => lastNote(service, all, 'all')).toBe('{"waiting":1}');
      expect(told(service, 'hers')).toEqual([]);
      await questions(server, 1, { 'x-abp-key': secret });
      await expect.poll(() => lastNote(service, hers, 'hers')).toBe('{"waiting":1}');
      await expect.poll(() => lastNote(service, all, 'all')).toBe('{"waiting":2}');
    });

    it('keep their key over a restart, sealed in the database, and outlive the process that noticed the question', async () => {
      const service = await startReceiver();
      const parent = mkdtempSync(join(tmpdir(), 'abp-push-'));
      onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
      const databaseOf = await databaseUrl();
      const options = { home: join(parent, 'home'), ...(databaseOf === undefined ? {} : { databaseUrl: databaseOf }) };
      const config = { console: { web_push: true, push_hosts: [new URL(service.url).host] } };
      const first = await startGateway({ config, ...options });
      const browser = await paired(first, service, 'phone').catch(async (error: unknown) => {
        await first.close();
        throw error;
      });
      service.answer(500);
      await questions(first, 1).finally(async () => {
        await expect.poll(() => told(service, 'phone').length).toBeGreaterThan(0);
        await first.close();
      });
      const before = told(service, 'phone').length;
      service.answer(201);
      const second = await start(service, options);
      await expect.poll(() => told(service, 'phone').length, { timeout: 40_000 }).toBeGreaterThan(before);
      expect(lastNote(service, browser, 'phone')).toBe('{"waiting":1}');
      expect(second.gateway.browsers.notes?.publicKey).toBe(first.gateway.browsers.notes?.publicKey);
      const [row, ...others] = await second.gateway.store.db
        .selectFrom('settings')
        .selectAll()
        .where('name', 'like', 'push_key/%')
        .execute();
      expect(others).toEqual([]);
      // A key that lay open would begin with the sequence of its PKCS #8 form.
      expect(
        Buffer.from(JSON.parse(row?.value ?? '""'), 'base64')
          .subarray(0, 2)
          .toString('hex'),
      ).not.toBe('3081');
    });

    it('go to push services alone, never to another address that a page names', async () => {
      const service = await startReceiver();
      const server = await start(service);
      const { keys, call } = await paired(server, service, 'phone');
      for (const endpoint of [
        'http://fcm.googleapis.com/fcm/send/x',
        'https://evil.example/x',
        'https://fcm.googleapis.com.evil.example/x',
        'https://fcm.googleapis.com:8443/x',
        'https://push.apple.com.evil.example/x',
        'https://169.254.169.254/latest',
        'https://127.0.0.1/x',
        'https://[::1]/x',
        'https://user:pass@fcm.googleapis.com/x',
        'file:///etc/passwd',
        'http://127.0.0.1:1/x',
      ]) {
        expect((await call('PUT', { endpoint, keys })).status, endpoint).toBe(400);
      }
      for (const endpoint of ['https://fcm.googleapis.com/fcm/send/x', 'https://updates.push.services.mozilla.com/wpush/v2/x'])
        expect((await call('PUT', { endpoint, keys })).status, endpoint).toBe(204);
      expect((await call('PUT', { endpoint: 'https://web.push.apple.com/x', keys: { ...keys, auth: 'AAAA' } })).status).toBe(400);
    });

    it('are for browsers that are signed in, and a row that somebody wrote into the database is told nothing', async () => {
      const service = await startReceiver();
      const server = await start(service);
      const wish = { endpoint: `${service.url}/nobody`, keys: pushBrowser().keys };
      for (const headers of [{}, { 'x-abp-key': server.token }] as Record<string, string>[])
        expect((await ask(server, '/v1/console/push', asking(server, 'PUT', wish, headers))).status).toBe(403);
      const forged = await paired(server, service, 'forged');
      await server.gateway.store.db
        .updateTable('push_subscriptions')
        .set({ endpoint: `${service.url}/elsewhere` })
        .execute();
      expect(((await forged.call('GET')).body as { on: boolean }).on).toBe(false);
      const other = await paired(server, service, 'other');
      await questions(server, 1);
      await expect.poll(() => lastNote(service, other, 'other')).toBe('{"waiting":1}');
      expect(service.posts.map(({ path }) => path)).toEqual(['/other']);
    });

    it('are not there unless the operator wants them', async () => {
      const url = await databaseUrl();
      const server = await startGateway(url === undefined ? {} : { databaseUrl: url });
      onTestFinished(server.close);
      const { body } = await ask(server, '/v1/console/session', asking(server, 'GET'));
      expect(body).toMatchObject({ web_push: false });
      const { code } = server.gateway.browsers.sessions.invite('answer', 60_000);
      const answer = await fetch(`${server.url}/v1/console/session`, asking(server, 'POST', { code }));
      const cookie = (answer.headers.get('set-cookie') ?? '').split('; ')[0] ?? '';
      const wish = { endpoint: 'https://fcm.googleapis.com/fcm/send/x', keys: pushBrowser().keys };
      for (const [method, sent] of [['GET'], ['PUT', wish], ['DELETE']] as [string, object?][])
        expect((await ask(server, '/v1/console/push', asking(server, method, sent, { cookie }))).status).toBe(404);
      expect(await server.gateway.store.db.selectFrom('settings').selectAll().where('name', 'like', 'push_key/%').execute()).toEqual([]);
    });

    it('come from one of several nodes', async ({ skip }) => {
      const url = await databaseUrl();
      if (url === undefined) skip('SQLite has one node');
      vi.stubEnv('ABP_KEY_SECRET', 'a secret that all homes of this database share');
      const service = await startReceiver();
      const nodes = [await start(service, { databaseUrl: url ?? '' }), await start(service, { databaseUrl: url ?? '' })] as const;
      const browser = await paired(nodes[0], service, 'phone');
      expect(nodes[1].gateway.browsers.notes?.publicKey).toBe(nodes[0].gateway.browsers.notes?.publicKey);
      await questions(nodes[1], 1);
      await expect.poll(() => lastNote(service, browser, 'phone')).toBe('{"waiting":1}');
      // Both nodes have looked at it by now: each has a second question to notice.
      await questions(nodes[0], 1);
      await expect.poll(() => lastNote(service, browser, 'phone')).toBe('{"waiting":2}');
      const rows = await nodes[0].gateway.store.db.selectFrom('notices').select('topic').where('webhook', 'like', 'push %').execute();
      expect(rows).toHaveLength(2);
      expect(told(service, 'phone')).toHaveLength(2);
    });
  });
}
