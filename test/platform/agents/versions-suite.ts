import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentApi, type ApiAnswer } from '../../support/agent-api.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

/** How versions of custom capabilities are chosen, over HTTP, on whatever database the server has. */
export function versionsSuite(database: string, databaseUrl: () => Promise<string | undefined>): void {
  describe(`custom capabilities in versions on ${database}`, () => {
    let server: TestGateway;
    let api: AgentApi;

    beforeAll(async () => {
      const address = await databaseUrl();
      server = await startGateway(address === undefined ? {} : { databaseUrl: address });
      api = new AgentApi(server);
    });
    afterAll(() => server.close());

    const define = (definition: object): Promise<ApiAnswer> =>
      api.call('POST', '/v1/capabilities', { name: 'Custom', description: 'For a test.', ...definition });

    describe('dependencies', () => {
      it('come along, before what needs them, in the newest version that fits', async () => {
        await define({ id: 'dep_base', version: '1.0.0', system_prompt: 'base 1.0' });
        for (const version of ['1.2.0', '2.0.0']) {
          const body = { id: 'dep_base', name: 'Base', description: 'x', version, system_prompt: `base ${version}` };
          expect((await api.call('PUT', '/v1/capabilities/dep_base', body)).status).toBe(200);
        }
        await define({ id: 'dep_top', system_prompt: 'top', dependencies: [{ id: 'dep_base', range: '^1.0.0' }] });
        const id = await api.agent({ system_prompt: 'own', capabilities: ['noop', 'dep_top'] });
        const { body } = await api.call('GET', `/v1/agents/${id}/preview`);
        expect(body.system_prompt).toBe('base 1.2.0\n\ntop\n\nown');
        expect(body.capabilities).toMatchObject([
          { capability_id: 'noop', position: 0 },
          { capability_id: 'dep_base', version: '1.2.0', position: null, requested_by: ['dep_top'] },
          { capability_id: 'dep_top', position: 1 },
        ]);
        const both = await api.call('PUT', `/v1/agents/${id}/capabilities`, {
          capabilities: ['dep_top', { capability_id: 'dep_base', version: '^2.0.0' }],
        });
        expect([both.status, both.body.detail]).toEqual([
          422,
          'No version of dep_base fits: agent asks for ^2.0.0, dep_top asks for ^1.0.0; there is 2.0.0, 1.2.0, 1.0.0.',
        ]);
        expect((await api.call('DELETE', '/v1/capabilities/dep_base')).body).toMatchObject({
          status: 409,
          details: { capabilities: ['dep_top'] },
        });
      });

      it('that go round in a circle are refused by their path', async () => {
        await define({ id: 'circle_a', dependencies: [{ id: 'circle_b' }] });
        const closing = await define({ id: 'circle_b', dependencies: [{ id: 'circle_a' }] });
        expect([closing.status, closing.body.details]).toEqual([422, { circle: ['circle_b', 'circle_a', 'circle_b'] }]);
        expect((await define({ id: 'circle_b' })).status).toBe(201);
        const id = await api.agent({ capabilities: ['circle_a'] });
        const next = { id: 'circle_b', name: 'B', description: 'x', version: '1.1.0', dependencies: [{ id: 'circle_a' }] };
        expect((await api.call('PUT', '/v1/capabilities/circle_b', next)).status).toBe(422);
        expect((await api.call('GET', `/v1/agents/${id}/preview`)).body.error).toBeNull();
      });

      it('that do not exist are named with who needs them', async () => {
        await define({ id: 'dep_lost', dependencies: [{ id: 'nowhere' }] });
        const answer = await api.call('POST', '/v1/agents', { name: 'a', capabilities: ['dep_lost'] });
        expect(answer.body.detail).toBe('There is no capability "nowhere". dep_lost depends on it.');
      });
    });

    describe('versions', () => {
      it('are added and never changed, and an agent stays in its range', async () => {
        const body = { id: 'versioned', name: 'V', description: 'x', version: '1.0.0', system_prompt: 'one' };
        expect((await api.call('POST', '/v1/capabilities', body)).status).toBe(201);
        expect((await api.call('POST', '/v1/capabilities', body)).status).toBe(409);
        expect((await api.call('PUT', '/v1/capabilities/versioned', body)).status).toBe(200);
        expect((await api.call('PUT', '/v1/capabilities/versioned', { ...body, system_prompt: 'other' })).status).toBe(409);
        const id = await api.agent({ capabilities: [{ capability_id: 'versioned', version: '^1.0.0' }] });
        expect((await api.call('PUT', '/v1/capabilities/versioned', { ...body, version: '2.0.0', system_prompt: 'two' })).status).toBe(200);
        expect((await api.call('GET', `/v1/agents/${id}/preview`)).body.system_prompt).toBe('one');
        expect((await api.call('GET', '/v1/capabilities/versioned')).body).toMatchObject({
          version: '2.0.0',
          versions: ['2.0.0', '1.0.0'],
        });
        expect((await api.call('GET', '/v1/capabilities/versioned?version=%5E1.0.0')).body.system_prompt).toBe('one');
        const none = await api.call('GET', '/v1/capabilities/versioned?version=3.x');
        expect([none.status, none.body.detail]).toEqual([404, 'No version of versioned fits 3.x; there is 2.0.0, 1.0.0.']);
        expect((await api.call('DELETE', '/v1/capabilities/versioned')).status).toBe(409);
        await api.call('PUT', `/v1/agents/${id}/capabilities`, { capabilities: [] });
        expect((await api.call('DELETE', '/v1/capabilities/versioned')).status).toBe(204);
        expect((await api.call('GET', '/v1/capabilities/versioned')).status).toBe(404);
      });
    });

    describe('previews of versions', () => {
      it('are taken where there is nothing else, or by name', async () => {
        const body = { id: 'previewed', name: 'P', description: 'x', version: '1.0.0-beta.1', system_prompt: 'beta' };
        expect((await api.call('POST', '/v1/capabilities', body)).status).toBe(201);
        const id = await api.agent({ capabilities: ['previewed'] });
        const prompt = async (): Promise<string> => (await api.call('GET', `/v1/agents/${id}/preview`)).body.system_prompt;
        expect(await prompt()).toBe('beta');
        await api.call('PUT', '/v1/capabilities/previewed', { ...body, version: '0.9.0', system_prompt: 'stable' });
        expect(await prompt()).toBe('stable');
        expect((await api.call('GET', '/v1/capabilities/previewed')).body).toMatchObject({
          version: '0.9.0',
          versions: ['1.0.0-beta.1', '0.9.0'],
        });
        await api.call('PUT', `/v1/agents/${id}/capabilities`, {
          capabilities: [{ capability_id: 'previewed', version: '>=1.0.0-beta' }],
        });
        expect(await prompt()).toBe('beta');
      });

      it.each(['1.0.0-..', '1.0.0-01', '1.0.0-', '01.0.0', '1.0', '1.0.0+build'])('are versions: %s is none', async (version) => {
        expect((await define({ id: 'no_version', version })).body).toMatchObject({
          status: 400,
          detail: expect.stringMatching(/semantic/),
        });
        expect((await api.call('GET', '/v1/capabilities')).status).toBe(200);
      });
    });

    it('have settings whose defaults fit', async () => {
      const config_schema = { type: 'object', properties: { n: { type: 'integer', default: 'many' } } };
      const { status, body } = await define({ id: 'misfit', config_schema });
      expect([status, body.detail]).toEqual([422, expect.stringMatching(/the default of n: value\/n must be integer/)]);
    });
  });
}
