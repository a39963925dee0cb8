import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, type WireAnswer } from '../support/http-call.ts';

const FILE = { match: 'from-the-file', to: 'sim/sim-1' };
const row = (match: string, to: string): object => ({ match, to });

const json = ({ body }: WireAnswer) => JSON.parse(String(body));

/** The route table as operators change it, on whatever database the server has. */
export function routesSuite(database: string, databaseUrl: () => Promise<string | undefined>): void {
  describe(`routes on ${database}`, () => {
    let server: TestGateway;
    let address: string | undefined;

    beforeAll(async () => {
      address = await databaseUrl();
      server = await startGateway({ config: { routes: [FILE] }, ...(address === undefined ? {} : { databaseUrl: address }) });
    });
    afterAll(() => server.close());

    const admin = (method: string, body?: object): Promise<WireAnswer> =>
      call(`${server.url}/v1/routes`, {
        method,
        headers: ['authorization', `Bearer ${server.token}`, 'content-type', 'application/json'],
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });

    /** The engine that a model's name leads to. */
    const engineOf = async (model: string): Promise<string> => {
      const question = { path: '/v1/messages', request: { model, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] } };
      return json(await post(`${server.url}/v1/explain`, question)).to;
    };

    it('hold from the next call on, before those of the configuration, and are told with their source', async () => {
      expect(await engineOf('helper')).toBe('claude');
      const changed = await admin('PUT', { items: [row('help*', 'sim:claude/sim-1'), row('from-the-file', 'gemini')] });
      expect(changed.status).toBe(200);
      expect(json(changed).items.map(({ match, source }: { match: string; source: string }) => [match, source])).toEqual([
        ['help*', 'database'],
        ['from-the-file', 'database'],
        ['from-the-file', 'file'],
      ]);
      expect(await engineOf('helper')).toBe('sim:claude');
      expect(await engineOf('from-the-file')).toBe('gemini');
      const answer = await post(`${server.url}/v1/messages`, {
        model: 'helper',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'say hi' }],
      });
      expect([answer.status, answer.headers['x-abp-engine']]).toEqual([200, 'sim']);
    });

    it('can be sent back as they were told, and are emptied by an empty list', async () => {
      const before = json(await admin('GET'));
      expect(json(await admin('PUT', { items: before.items }))).toEqual(before);
      const emptied = json(await admin('PUT', { items: [] }));
      expect(emptied.items).toMatchObject([{ ...FILE, source: 'file' }]);
      expect(await engineOf('from-the-file')).toBe('sim:claude');
    });

    it('are refused as a whole where one leads nowhere, repeats itself wrongly or belongs to the file', async () => {
      await admin('PUT', { items: [row('kept', 'sim')] });
      const refusals: [object, string][] = [
        [row('a', 'gemni/pro'), 'did you mean gemini'],
        [row('a', 'claude:gemini/x'), 'does not speak'],
        [{ ...row('a', 'sim'), fallback: ['nobody'] }, 'routes[1].fallback[0]'],
        [{ ...row('from-the-file', 'gemini'), source: 'file' }, 'changed there'],
      ];
      for (const [wrong, words] of refusals) {
        const refused = await admin('PUT', { items: [row('kept', 'sim'), wrong] });
        expect([refused.status, String(refused.body)]).toEqual([422, expect.stringContaining(words)]);
      }
      expect((await admin('PUT', { items: [{ match: '', to: 'sim' }] })).status).toBe(400);
      expect((await admin('PUT', { items: [{ ...row('a', 'sim'), attempts: 11 }] })).status).toBe(400);
      expect(json(await admin('GET')).items.map(({ match }: { match: string }) => match)).toEqual(['kept', 'from-the-file']);
    });

    it('are for operators alone', async () => {
      expect((await call(`${server.url}/v1/routes`)).status).toBe(403);
      const headers = ['content-type', 'application/json'];
      expect((await call(`${server.url}/v1/routes`, { method: 'PUT', headers, body: '{"items":[]}' })).status).toBe(403);
    });

    it('outlive the server', async () => {
      await admin('PUT', { items: [row('kept', 'sim')] });
      const { home } = server;
      if (address === undefined) {
        const again = await reopened(home);
        expect(again).toEqual(['kept']);
      } else {
        const other = await startGateway({ databaseUrl: address });
        expect(other.gateway.routes.kept.map(({ match }) => match)).toEqual(['kept']);
        await admin('PUT', { items: [row('kept', 'sim'), row('new', 'sim')] });
        await expect.poll(() => other.gateway.routes.kept.map(({ match }) => match)).toEqual(['kept', 'new']);
        await other.close();
      }
    });

    /** Closes the server and opens its database again, as a start does. */
    async function reopened(home: string): Promise<string[]> {
      const { openStore } = await import('../../src/store/database.ts');
      const { openHome } = await import('../../src/home/home.ts');
      const { LiveRoutes } = await import('../../src/gateway/live-routes.ts');
      const store = await openStore({ home: openHome({ path: home }), besideKeeper: true });
      const routes = new LiveRoutes(store, { routes: [], engines: {} });
      await routes.read();
      await store.close();
      return routes.kept.map(({ match }) => match);
    }
  });
}
