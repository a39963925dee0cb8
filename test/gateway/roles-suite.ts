import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, type WireAnswer } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

/** Who sees and may do what, whichever database holds it. */
export function rolesSuite(database: string, databaseUrl: () => Promise<string | undefined>): void {
  describe(`on ${database}`, () => {
    let server: TestGateway;
    beforeAll(async () => {
      const url = await databaseUrl();
      server = await startGateway({
        ...(url === undefined ? {} : { databaseUrl: url }),
        config: { auth: { local: false, key_days: 30 }, recording: { default: 'full' } },
      });
    });
    afterAll(() => server.close());

    const json = ({ body }: WireAnswer) => JSON.parse(String(body));

    function as(secret: string, method: string, path: string, body?: object): Promise<WireAnswer> {
      const headers = ['x-abp-key', secret, 'content-type', 'application/json'];
      return call(`${server.url}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    }
    const admin = (method: string, path: string, body?: object): Promise<WireAnswer> => as(server.token, method, path, body);

    interface MadeKey {
      readonly id: string;
      readonly secret: string;
    }

    async function keyOf(body: object): Promise<MadeKey> {
      const made = await admin('POST', '/v1/keys', { name: 'k', ...body });
      expect(made.status, String(made.body)).toBe(201);
      return json(made);
    }

    /** A call with the key; its receipt is there when this returns. */
    async function said({ secret }: MadeKey): Promise<string> {
      const answer = await post(
        `${server.url}/e/sim/v1/messages`,
        { model: 'sim-1', max_tokens: 50, messages: [{ role: 'user', content: 'say "hi"' }] },
        ['x-abp-key', secret],
      );
      expect(answer.status).toBe(200);
      return (await receiptOf(server.url, answer.headers['x-abp-run-id'], ['x-abp-key', secret])).run_id;
    }

    async function runsSeenBy({ secret }: MadeKey, query = ''): Promise<string[]> {
      const answer = await as(secret, 'GET', `/v1/receipts?limit=1000${query}`);
      return json(answer).items.map(({ run_id }: { run_id: string }) => run_id);
    }

    describe('a stream of events', () => {
      /** Opens a stream; `ended` resolves when the server ends it. */
      async function reading(path: string, headers: Record<string, string>): Promise<{ ended: Promise<void>; isOpen(): boolean }> {
        const left = new AbortController();
        onTestFinished(() => left.abort());
        const answer = await fetch(`${server.url}${path}`, { headers, signal: left.signal });
        expect(answer.status).toBe(200);
        let open = true;
        const drained = async (): Promise<void> => {
          for await (const _ of answer.body ?? []);
          open = false;
        };
        const ended = drained();
        ended.catch(() => undefined);
        return { ended, isOpen: () => open };
      }

      it('ends when its reader’s key does, and when the reader may read less than before, and goes on for others', {
        timeout: 60_000,
      }, async () => {
        await admin('POST', '/v1/teams', { id: 'green', shows_runs: true });
        for (const id of ['gil', 'gus']) await admin('POST', '/v1/users', { id, role: 'member', teams: ['green'] });
        await admin('POST', '/v1/users', { id: 'gert', role: 'auditor' });
        const [gil, gus, gert] = [await keyOf({ user: 'gil' }), await keyOf({ user: 'gus' }), await keyOf({ user: 'gert' })];
        const ends = await keyOf({ scopes: { role: 'auditor' } });
        const rotated = await keyOf({ scopes: { role: 'auditor' } });
        const ticket = async (path: string): Promise<string> =>
          `${path}?ticket=${json(await as(ends.secret, 'POST', '/v1/tickets', { path })).ticket}`;
        const late = await ticket('/v1/runs/stream');
        const over = [
          await reading('/v1/receipts/stream', { 'x-abp-key': ends.secret }),
          await reading(await ticket('/v1/receipts/stream'), {}),
          await reading('/v1/interactions/stream', { 'x-abp-key': gil.secret }),
          await reading('/v1/runs/stream', { 'x-abp-key': gus.secret }),
          await reading('/v1/runs/stream', { 'x-abp-key': gert.secret }),
          await reading('/v1/receipts/stream', { 'x-abp-key': rotated.secret }),
        ];
        const stays = await reading('/v1/runs/stream', { 'x-abp-key': (await keyOf({})).secret });
        expect((await admin('DELETE', `/v1/keys/${ends.id}`)).status).toBe(204);
        expect((await admin('DELETE', '/v1/users/gil')).status).toBe(204);
        expect((await admin('PATCH', '/v1/users/gus', { teams: [] })).status).toBe(200);
        expect((await admin('PATCH', '/v1/users/gert', { role: 'member' })).status).toBe(200);
        expect((await admin('POST', `/v1/keys/${rotated.id}/rotate`, { overlap_s: 0 })).status).toBe(200);
        await Promise.all(over.map(({ ended }) => ended));
        expect((await call(`${server.url}${late}`)).status).toBe(401);
        expect(stays.isOpen()).toBe(true);
      });
    });

    describe('the runs that somebody sees', () => {
      it('are those of all keys of the user, and those of a team that shows them', async () => {
        await admin('POST', '/v1/teams', { id: 'blue' });
        for (const id of ['ann', 'ben']) await admin('POST', '/v1/users', { id, role: 'member', teams: ['blue'] });
        const [laptop, phone, other] = [
          await keyOf({ user: 'ann' }),
          await keyOf({ user: 'ann', name: 'phone' }),
          await keyOf({ user: 'ben' }),
        ];
        const robot = await keyOf({ team: 'blue', service: 'nightly' });
        const [a, b, c, d] = [await said(laptop), await said(phone), await said(other), await said(robot)];
        expect((await runsSeenBy(laptop)).toSorted()).toEqual([a, b].toSorted());
        expect(await runsSeenBy(laptop, '&key=phone')).toEqual([b]);
        expect(await runsSeenBy(laptop, `&key=${other.id}`)).toEqual([]);
        expect(await runsSeenBy(robot)).toEqual([d]);
        expect((await as(laptop.secret, 'GET', `/v1/receipts/${c}`)).status).toBe(404);
        expect((await admin('PATCH', '/v1/teams/blue', { shows_runs: true })).status).toBe(200);
        expect((await runsSeenBy(laptop)).toSorted()).toEqual([a, b, c, d].toSorted());
        expect((await runsSeenBy(robot)).toSorted()).toEqual([a, b, c, d].toSorted());
        expect((await as(laptop.secret, 'GET', `/v1/receipts/${c}/request`)).status).toBe(200);
        // Seeing is not owning.
        expect((await as(laptop.secret, 'DELETE', `/v1/receipts/${c}/bodies`)).status).toBe(404);
        const usage = json(await as(laptop.secret, 'GET', '/v1/usage?metric=runs'));
        expect(usage.groups[0].totals?.runs ?? usage.groups[0].runs).toBeDefined();
        expect((await admin('PATCH', '/v1/teams/blue', { shows_runs: false })).status).toBe(200);
        expect((await runsSeenBy(laptop)).toSorted()).toEqual([a, b].toSorted());
      });

      it('are everybody’s receipts for auditors and operators, and nobody’s bodies', async () => {
        const caller = await keyOf({});
        const run = await said(caller);
        for (const role of ['auditor', 'operator']) {
          const watcher = await keyOf({ scopes: { role } });
          expect(await runsSeenBy(watcher)).toContain(run);
          expect((await as(watcher.secret, 'GET', `/v1/receipts/${run}`)).status).toBe(200);
          expect((await as(watcher.secret, 'GET', '/v1/usage')).status).toBe(200);
          for (const part of ['request', 'response', 'report']) {
            expect((await as(watcher.secret, 'GET', `/v1/receipts/${run}/${part}`)).status, part).toBe(403);
          }
          expect((await as(watcher.secret, 'GET', `/v1/recordings/${run}`)).status).toBe(403);
        }
      });
    });

    describe('the role of a user', () => {
      it('changes what the keys do from the next call on', async () => {
        await admin('POST', '/v1/users', { id: 'cem' });
        const key = await keyOf({ user: 'cem' });
        const reach = async (): Promise<number[]> => [
          (await post(`${server.url}/e/sim/v1/messages`, {}, ['x-abp-key', key.secret])).status,
          (await as(key.secret, 'GET', '/v1/settings')).status,
          (await as(key.secret, 'GET', '/v1/keys')).status,
        ];
        expect(await reach()).toEqual([400, 403, 403]);
        expect(json(await admin('PATCH', '/v1/users/cem', { role: 'admin' })).role).toBe('admin');
        expect(await reach()).toEqual([400, 200, 200]);
        await admin('PATCH', '/v1/users/cem', { role: 'operator' });
        expect((await reach()).slice(1)).toEqual([200, 403]);
        await admin('PATCH', '/v1/users/cem', { role: null });
        expect(await reach()).toEqual([400, 403, 403]);
      });

      it('is the most that a key of the user can be made for', async () => {
        await admin('POST', '/v1/users', { id: 'dan', role: 'member' });
        const refused = await admin('POST', '/v1/keys', { name: 'k', user: 'dan', scopes: { admin: true } });
        expect([refused.status, json(refused).error.message]).toEqual([
          422,
          'The user dan has the role member; a key with the role admin would open more than that.',
        ]);
        expect((await admin('POST', '/v1/keys', { name: 'k', user: 'dan', service: 'ci' })).status).toBe(422);
        expect((await admin('POST', '/v1/users', { id: 'eve', role: 'king' })).status).toBe(400);
      });

      it('that somebody wrote into the database counts for nothing', async () => {
        await admin('POST', '/v1/users', { id: 'fay', role: 'auditor' });
        const key = await keyOf({ user: 'fay' });
        await server.gateway.store.db.updateTable('users').set({ role: 'admin' }).where('id', '=', 'fay').execute();
        await server.gateway.people.read();
        expect((await as(key.secret, 'GET', '/v1/keys')).status).toBe(403);
        expect(json(await admin('GET', '/v1/users/fay')).role).toBeNull();
      });
    });

    describe('a key', () => {
      it('gets a new secret while the one before still works, and stays the same key', async () => {
        const key = await keyOf({ limits: { concurrency: 7 }, tags: ['t'] });
        const rotated = json(await admin('POST', `/v1/keys/${key.id}/rotate`, { overlap_s: 3600 }));
        expect(rotated).toMatchObject({ id: key.id, limits: { concurrency: 7 }, tags: ['t'], rotated_at: expect.any(String) });
        expect(rotated.secret).not.toBe(key.secret);
        const [before, after] = [await said(key), await said(rotated)];
        expect((await runsSeenBy(rotated)).toSorted()).toEqual([before, after].toSorted());
        const again = json(await admin('POST', `/v1/keys/${key.id}/rotate`, { overlap_s: 0 }));
        expect((await as(rotated.secret, 'GET', '/v1/receipts')).status).toBe(401);
        // The first one has its hour still.
        expect((await as(key.secret, 'GET', '/v1/receipts')).status).toBe(200);
        expect((await admin('DELETE', `/v1/keys/${key.id}`)).status).toBe(204);
        for (const { secret } of [key, rotated, again]) expect((await as(secret, 'GET', '/v1/receipts')).status).toBe(401);
        expect((await admin('POST', `/v1/keys/${key.id}/rotate`, {})).status).toBe(404);
      });

      it('has a secret before that ends with the overlap', async () => {
        const key = await keyOf({});
        await admin('POST', `/v1/keys/${key.id}/rotate`, { overlap_s: 0.3 });
        await expect.poll(async () => (await as(key.secret, 'GET', '/v1/receipts')).status).toBe(401);
      });

      it('is not opened by a secret that somebody wrote into the database', async () => {
        const { hashSecret } = await import('../../src/gateway/auth/key-ring.ts');
        const key = await keyOf({ scopes: { admin: true } });
        const now = Date.now();
        const row = { id: 'sign_in_1', hash: hashSecret('abp_forged'), key_id: key.id, kind: 'browser', label: '', created_at: now };
        const forged = { ...row, expires_at: now + 1e6, mac: '0'.repeat(64) };
        await server.gateway.store.db.insertInto('key_secrets').values(forged).execute();
        expect((await as('abp_forged', 'GET', '/v1/keys')).status).toBe(401);
      });

      it('expires as the configuration says, unless its maker says something else, and as long again after a new secret', async () => {
        const days = (key: { expires_at: string | null }): number | null =>
          key.expires_at === null ? null : Math.round((Date.parse(key.expires_at) - Date.now()) / 86_400_000);
        const made = async (body: object) => json(await admin('POST', '/v1/keys', { name: 'k', ...body }));
        const [usual, short, endless] = [await made({}), await made({ expires_in_s: 86_400 }), await made({ expires_in_s: null })];
        expect([usual, short, endless].map(days)).toEqual([30, 1, null]);
        const rotated = await Promise.all([usual, short, endless].map(({ id }) => admin('POST', `/v1/keys/${id}/rotate`, {})));
        expect(rotated.map(json).map(days)).toEqual([30, 1, null]);
        expect(days(json(await admin('POST', `/v1/keys/${endless.id}/rotate`, { expires_in_s: 5 * 86_400 })))).toBe(5);
      });

      it('says whose it is and when it was last used, also by one who only reads', async () => {
        const key = await keyOf({ service: 'nightly-audit', scopes: { role: 'auditor' } });
        const shown = async () => json(await admin('GET', '/v1/keys?limit=1000')).items.find(({ id }: MadeKey) => id === key.id);
        expect(await shown()).toMatchObject({ service: 'nightly-audit', user: null, role: 'auditor', last_used_at: null });
        expect((await as(key.secret, 'GET', '/v1/receipts')).status).toBe(200);
        await expect.poll(async () => (await shown()).last_used_at).not.toBeNull();
      });
    });
  });
}
