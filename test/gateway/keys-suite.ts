import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newRunId } from '../../src/contract/run-id.ts';
import { runPort } from '../../src/gateway/run-plane/run-port.ts';
import { createRun } from '../../src/store/runs/runs.ts';
import { openFact } from '../support/facts.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, type WireAnswer } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

const BODY = { model: 'sim-1', max_tokens: 100, messages: [{ role: 'user', content: 'say "hi"' }] };

interface NewKey {
  readonly id: string;
  readonly secret: string;
}

/** What keys open, on whatever database the server has. */
export function keysSuite(database: string, databaseUrl: () => Promise<string | undefined>): void {
  describe(`keys on ${database}`, () => {
    let server: TestGateway;
    let url: string;
    let admin: string[];
    let address: string | undefined;

    beforeAll(async () => {
      address = await databaseUrl();
      server = await startGateway({ config: { auth: { local: false } }, ...(address === undefined ? {} : { databaseUrl: address }) });
      url = `${server.url}/e/sim/v1/messages`;
      admin = ['authorization', `Bearer ${server.token}`];
    });
    afterAll(() => server.close());

    async function create(body: object = {}): Promise<NewKey> {
      const answer = await post(`${server.url}/v1/keys`, { name: 'test', ...body }, admin);
      expect(answer.status).toBe(201);
      return JSON.parse(answer.body.toString());
    }

    const withKey = (secret: string, body: object = BODY): Promise<WireAnswer> => post(url, body, ['x-api-key', secret]);

    it('are needed for everything but the public paths while local is closed', async () => {
      const refused = await post(url, BODY);
      expect(refused.status).toBe(401);
      expect(JSON.parse(refused.body.toString())).toMatchObject({ type: 'error', error: { code: 'unauthenticated' } });
      expect(refused.headers['x-abp-run-id']).toMatch(/^run_/);
      for (const path of ['/v1/receipts', '/v1/backends', '/v1/matrix', '/v1/keys'])
        expect((await call(`${server.url}${path}`)).status).toBe(401);
      for (const path of ['/', '/healthz', '/readyz', '/openapi.json', '/docs/errors/E001']) {
        expect((await call(`${server.url}${path}`)).status).toBe(200);
      }
      const { body } = await call(`${server.url}/v1/receipts`, { headers: admin });
      expect(JSON.parse(body.toString()).items).toEqual([]);
    });

    it('are refused before a byte of the body is read', async () => {
      const answer = await call(url, { method: 'POST', headers: ['Content-Length', '1000000', 'Connection', 'close'] });
      expect(answer.status).toBe(401);
    });

    it('work wherever an SDK puts its credential', async () => {
      const { secret, id } = await create();
      const calls = [
        post(url, BODY, ['x-abp-key', secret]),
        post(url, BODY, ['x-api-key', secret]),
        post(url, BODY, ['authorization', `Bearer ${secret}`]),
        post(url, BODY, ['x-goog-api-key', secret]),
        post(url, BODY, ['api-key', secret]),
        post(`${url}?key=${secret}`, BODY),
        post(`${server.url}/k/${secret}/e/sim/v1/messages`, BODY),
      ];
      for (const answer of await Promise.all(calls)) {
        expect(answer.status).toBe(200);
        expect((await receiptOf(server.url, answer.headers['x-abp-run-id'], ['x-abp-key', secret])).key_id).toBe(id);
      }
    });

    it('show their secret once', async () => {
      const { secret, id } = await create({ name: 'shown once', tags: ['a'], scopes: { engines: ['sim'] } });
      expect(secret).toMatch(/^abp_[\w-]{43}$/);
      const list = (await call(`${server.url}/v1/keys?limit=1000`, { headers: admin })).body.toString();
      expect(list).not.toContain(secret);
      expect(JSON.parse(list).items.find((item: NewKey) => item.id === id)).toMatchObject({
        name: 'shown once',
        prefix: secret.slice(0, 12),
        tags: ['a'],
        scopes: { engines: ['sim'] },
        expires_at: null,
        revoked_at: null,
      });
    });

    it.each<[string, object, string]>([
      ['engines', { engines: ['claude'] }, 'engine sim'],
      ['models', { models: ['other-*'] }, 'model sim-1'],
      ['planes', { planes: ['agent'] }, 'plane gateway'],
    ])('are held to their %s, and the refusal has a receipt', async (_, scopes, missing) => {
      const { secret } = await create({ scopes });
      const answer = await withKey(secret);
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.body.toString())).toMatchObject({
        type: 'error',
        error: { code: 'forbidden', details: { scope: missing } },
      });
      const receipt = await receiptOf(server.url, answer.headers['x-abp-run-id'], ['x-abp-key', secret]);
      expect(receipt).toMatchObject({ status: 'failed', reason: 'refused', error: { code: 'forbidden' }, response: null });
    });

    it('open what their scopes match', async () => {
      const { secret } = await create({ scopes: { engines: ['s*'], models: ['sim-*'], planes: ['gateway', 'agent'] } });
      expect((await withKey(secret)).status).toBe(200);
    });

    it('without admin open no control route', async () => {
      const { secret } = await create();
      const asKey = ['x-abp-key', secret];
      expect((await call(`${server.url}/v1/keys`, { headers: asKey })).status).toBe(403);
      expect((await post(`${server.url}/v1/keys`, { name: 'more', scopes: { admin: true } }, asKey)).status).toBe(403);
      expect((await call(`${server.url}/v1/backends`, { headers: asKey })).status).toBe(200);
    });

    it('with admin open everything', async () => {
      const { secret } = await create({ scopes: { admin: true } });
      expect((await post(`${server.url}/v1/keys`, { name: 'by admin' }, ['x-abp-key', secret])).status).toBe(201);
    });

    it('see the receipts of their own runs alone', async () => {
      const [one, two] = [await create(), await create()];
      const run = (await withKey(one.secret)).headers['x-abp-run-id'];
      expect((await receiptOf(server.url, run, ['x-abp-key', one.secret])).key_id).toBe(one.id);
      expect((await call(`${server.url}/v1/receipts/${run}`, { headers: ['x-abp-key', two.secret] })).status).toBe(404);
      const list = async (headers: string[], query = ''): Promise<string> =>
        (await call(`${server.url}/v1/receipts?limit=1000${query}`, { headers })).body.toString();
      expect(await list(['x-abp-key', one.secret])).toContain(String(run));
      expect(await list(['x-abp-key', two.secret])).not.toContain(String(run));
      expect(await list(['x-abp-key', two.secret], `&key=${one.id}`)).not.toContain(String(run));
      expect(await list(admin)).toContain(String(run));
      expect((await call(`${server.url}/k/${one.secret}/v1/receipts/${run}`)).status).toBe(200);
    });

    it('put their tags and their recording into the receipt', async () => {
      const { secret } = await create({ tags: ['team-a', 'ü'], recording: 'off' });
      const receipt = await receiptOf(server.url, (await withKey(secret)).headers['x-abp-run-id'], ['x-abp-key', secret]);
      expect(receipt).toMatchObject({ tags: ['team-a', 'ü'], recording: 'off' });
      const { secret: plain } = await create();
      const other = await receiptOf(server.url, (await withKey(plain)).headers['x-abp-run-id'], ['x-abp-key', plain]);
      expect(other.recording).toBe('digest');
    });

    it('stop at their expiry', async () => {
      const { secret } = await create({ expires_in_s: 1 });
      expect((await withKey(secret)).status).toBe(200);
      await expect.poll(async () => (await withKey(secret)).status, { timeout: 60_000 }).toBe(401);
    });

    it('stop at once when revoked', async () => {
      const { secret, id } = await create();
      expect((await withKey(secret)).status).toBe(200);
      expect((await call(`${server.url}/v1/keys/${id}`, { method: 'DELETE', headers: admin })).status).toBe(204);
      expect((await withKey(secret)).status).toBe(401);
      expect((await call(`${server.url}/v1/keys/key_none`, { method: 'DELETE', headers: admin })).status).toBe(404);
    });

    it('of runs stop when their runs are closed for a server that was killed', async () => {
      const parent = mkdtempSync(join(tmpdir(), 'abp-run-keys-'));
      onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
      const start = (): Promise<TestGateway> =>
        startGateway({
          home: join(parent, 'home'),
          config: { auth: { local: false } },
          ...(address === undefined ? {} : { databaseUrl: address }),
        });
      const first = await start();
      const port = runPort(first.gateway);
      const runs = [newRunId(), newRunId()];
      const secrets = await Promise.all(
        runs.map((runId) =>
          port.mintRunKey({
            ...{
              runId,
              agent: 'claude',
              engine: 'sim',
              model: null,
              emulate: [],
              traffic: [],
              compatibility: 'best_effort',
              thinking: null,
            },
            ...{ tools: null, tags: [], raw: false, expiresAt: Date.now() + 3_600_000 },
          }),
        ),
      );
      // One run has a row, as those of a server have; of the other there is only the beginning of a receipt, as of those of a command.
      await createRun(first.gateway.store, {
        runId: runs[0]!,
        agent: 'claude',
        node: first.gateway.home.nodeId,
        keyId: null,
        options: {},
        createdAt: 1,
      });
      first.gateway.keeper.append(openFact({ run: runs[1]!, at: Date.now(), plane: 'run' }));
      const statuses = async (one: TestGateway): Promise<number[]> =>
        await Promise.all(secrets.map(async (secret) => (await post(`${one.url}/e/sim/v1/messages`, BODY, ['x-api-key', secret])).status));
      expect(await statuses(first)).toEqual([200, 200]);
      // Nothing of it ends these runs: to the next server they are what a killed one has left.
      await first.close();
      const second = await start();
      onTestFinished(() => second.close());
      expect(await statuses(second)).toEqual([401, 401]);
    });

    it('are not made from wrong input, and nothing changes', async () => {
      const count = async (): Promise<number> =>
        JSON.parse((await call(`${server.url}/v1/keys?limit=1000`, { headers: admin })).body.toString()).items.length;
      const before = await count();
      const wrong: unknown[] = [
        {},
        { name: '' },
        { name: 5 },
        { name: 'a', scopes: { everything: true } },
        { name: 'a', scopes: { planes: ['moon'] } },
        { name: 'a', tags: 'b' },
        { name: 'a', service: 'a\0' },
        { name: 'a\u202e' },
        { name: 'a', scopes: { models: ['\n'] } },
        { name: 'a', recording: 'some' },
        { name: 'a', expires_in_s: -1 },
        { name: 'a', expires_in_s: 1e300 },
        { name: 'a', kind: 'run' },
        [],
        null,
      ];
      for (const body of wrong) {
        const answer = await post(`${server.url}/v1/keys`, JSON.stringify(body), admin);
        expect(answer.status, JSON.stringify(body)).toBe(400);
        expect(JSON.parse(answer.body.toString()).error.code).toBe('invalid_request');
      }
      expect(await count()).toBe(before);
    });
  });
}
