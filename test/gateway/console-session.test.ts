import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway();
});
afterAll(() => server.close());

const json = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

async function signIn(scope: 'all' | 'answer'): Promise<{ cookie: string; flags: string }> {
  const { code } = server.gateway.browsers.sessions.invite(scope, 60_000);
  const answer = await fetch(`${server.url}/v1/console/session`, json({ code }, { origin: server.url }));
  expect(answer.status).toBe(200);
  const header = answer.headers.get('set-cookie') ?? '';
  const [cookie = '', ...flags] = header.split('; ');
  return { cookie, flags: flags.join('; ') };
}

async function statusOf(path: string, init: RequestInit = {}): Promise<number> {
  const answer = await fetch(`${server.url}${path}`, init);
  await answer.arrayBuffer();
  return answer.status;
}

describe('a one-time link', () => {
  it('sets a cookie that no script reads and no other site sends', async () => {
    const { cookie, flags } = await signIn('all');
    expect(cookie).toMatch(/^abp_console_\d+=[\w-]{40,}$/);
    expect(flags).toBe('Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000');
  });

  it('works once', async () => {
    const { code } = server.gateway.browsers.sessions.invite('all', 60_000);
    expect(await statusOf('/v1/console/session', json({ code }))).toBe(200);
    expect(await statusOf('/v1/console/session', json({ code }))).toBe(401);
  });

  it('ends with its time', async () => {
    const { code } = server.gateway.browsers.sessions.invite('all', 0);
    expect(await statusOf('/v1/console/session', json({ code }))).toBe(401);
  });

  it('leaves its code in no log', async () => {
    const { code } = server.gateway.browsers.sessions.invite('all', 60_000);
    await statusOf('/v1/console/session', json({ code }));
    expect(server.logs()).not.toContain(code);
  });
});

describe('a signed-in browser', () => {
  it('may do what the token may, from our own page', async () => {
    const { cookie } = await signIn('all');
    expect(await statusOf('/v1/keys', { headers: { cookie } })).toBe(200);
    expect(await statusOf('/v1/keys', json({ name: 'a' }, { cookie, origin: server.url }))).toBe(201);
    expect(await (await fetch(`${server.url}/v1/console/session`, { headers: { cookie } })).json()).toMatchObject({ principal: 'console' });
  });

  it.each(['http://127.0.0.1:1', 'https://elsewhere.example', 'null', undefined])('changes nothing from %s', async (origin) => {
    const { cookie } = await signIn('all');
    expect(await statusOf('/v1/keys', json({ name: 'b' }, { cookie, ...(origin === undefined ? {} : { origin }) }))).toBe(403);
  });

  it('is nobody after it was signed out', async () => {
    const { cookie } = await signIn('all');
    expect(await statusOf('/v1/console/session', { method: 'DELETE', headers: { cookie, origin: server.url } })).toBe(204);
    expect(await statusOf('/v1/keys', { headers: { cookie } })).toBe(403);
  });

  it('stays signed in after a restart', async () => {
    const { ConsoleSessions } = await import('../../src/gateway/console/console-sessions.ts');
    const { code } = server.gateway.browsers.sessions.invite('all', 60_000);
    const { secret, session } = await server.gateway.browsers.sessions.redeem(code, 'a browser');
    expect(await new ConsoleSessions(server.gateway.store).find(secret)).toEqual(session);
  });
});

it('lets nobody in by a session that somebody wrote into the database', async () => {
  const { hashSecret } = await import('../../src/gateway/auth/key-ring.ts');
  const { setSetting } = await import('../../src/store/settings.ts');
  const now = Date.now();
  const forged = { id: 'forged', scope: 'all', label: '', createdAt: now, expiresAt: now + 1e6, mac: '0'.repeat(64) };
  await setSetting(server.gateway.store, `console_session/${hashSecret('forged-secret')}`, forged);
  const cookie = `abp_console_${new URL(server.url).port}=forged-secret`;
  expect(await statusOf('/v1/keys', { headers: { cookie } })).toBe(403);
});

describe('a paired browser', () => {
  it('reads and answers, and does nothing else', async () => {
    const { cookie } = await signIn('answer');
    const own = { cookie, origin: server.url };
    expect(await statusOf('/v1/interactions', { headers: own })).toBe(200);
    expect(await statusOf('/v1/runs?view=row', { headers: own })).toBe(200);
    expect(await statusOf('/v1/runs/run_01a1e20f7815708b9a054f9ff4235561/interactions/i1', json({ approve: true }, own))).toBe(404);
    expect(await statusOf('/v1/keys', { headers: own })).toBe(403);
    expect(await statusOf('/v1/runs', json({ agent: 'claude', prompt: 'hello' }, own))).toBe(403);
    expect(await statusOf('/v1/console/pairings', json({}, own))).toBe(403);
  });
});

describe('a browser that was paired for one user', () => {
  const admin = async (path: string, body: object): Promise<{ id: string; secret: string; code: string }> => {
    const answer = await fetch(`${server.url}${path}`, json(body, { 'x-abp-key': server.token }));
    expect(answer.status, path).toBeLessThan(300);
    return (await answer.json()) as { id: string; secret: string; code: string };
  };
  const callAs = async (secret: string): Promise<string> => {
    const body = { model: 'any-name', max_tokens: 20, messages: [{ role: 'user', content: 'Say exactly: "hi"' }] };
    const answer = await fetch(`${server.url}/e/sim/v1/messages`, json(body, { 'x-abp-key': secret }));
    await answer.arrayBuffer();
    return answer.headers.get('x-abp-run-id') ?? '';
  };

  it('sees runs of that user, and of nobody else', async () => {
    await admin('/v1/users', { id: 'ann' });
    await admin('/v1/users', { id: 'bob' });
    const scopes = { planes: ['gateway'] };
    const ann = await admin('/v1/keys', { name: 'ann', user: 'ann', scopes });
    const bob = await admin('/v1/keys', { name: 'bob', user: 'bob', scopes });
    const [hers, his, nobodys] = [await callAs(ann.secret), await callAs(bob.secret), await callAs(server.token)];
    await server.gateway.keeper.settled();
    const { code } = await admin('/v1/console/pairings', { user: 'ann' });
    const answer = await fetch(`${server.url}/v1/console/session`, json({ code }, { origin: server.url }));
    expect(await answer.json()).toMatchObject({ principal: 'paired', user: 'ann' });
    const cookie = (answer.headers.get('set-cookie') ?? '').split('; ')[0] ?? '';
    const read = async (path: string): Promise<{ items: { run_id: string }[] }> =>
      (await (await fetch(`${server.url}${path}`, { headers: { cookie } })).json()) as never;
    expect((await read('/v1/runs?view=row')).items.map(({ run_id }) => run_id)).toEqual([hers]);
    expect((await read('/v1/interactions')).items).toEqual([]);
    expect(await statusOf(`/v1/receipts/${hers}`, { headers: { cookie } })).toBe(200);
    for (const run of [his, nobodys]) expect(await statusOf(`/v1/receipts/${run}`, { headers: { cookie } })).toBe(404);
  });

  it('is refused for a user who does not exist, and with the rights of everybody', async () => {
    const pair = (body: object): Promise<number> => statusOf('/v1/console/pairings', json(body, { 'x-abp-key': server.token }));
    expect(await pair({ user: 'nobody' })).toBe(404);
    expect(await pair({ user: 'ann', scopes: ['all'] })).toBe(400);
  });

  it('is nobody when the row in the database is made everybody’s', async () => {
    const { code } = await admin('/v1/console/pairings', { user: 'ann' });
    const answer = await fetch(`${server.url}/v1/console/session`, json({ code }, { origin: server.url }));
    const cookie = (answer.headers.get('set-cookie') ?? '').split('; ')[0] ?? '';
    const { hashSecret } = await import('../../src/gateway/auth/key-ring.ts');
    const { getSetting, setSetting } = await import('../../src/store/settings.ts');
    const name = `console_session/${hashSecret(cookie.split('=')[1] ?? '')}`;
    const { user, ...rest } = (await getSetting(server.gateway.store, name)) as Record<string, string>;
    expect(user).toBe('ann');
    await setSetting(server.gateway.store, name, rest);
    expect((await (await fetch(`${server.url}/v1/console/session`, { headers: { cookie } })).json()) as object).toMatchObject({
      principal: 'local',
    });
  });
});

it('every page has the strict policy, and no token can come in by the address', async () => {
  const answer = await fetch(`${server.url}/runs`);
  expect(answer.headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(await statusOf('/assets/..%2f..%2fpackage.json')).toBe(400);
});
