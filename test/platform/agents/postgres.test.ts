import { afterAll, beforeAll } from 'vitest';
import { startPostgres, type TestPostgres } from '../../support/postgres.ts';
import { agentsSuite } from './agents-suite.ts';
import { customSuite } from './custom-suite.ts';
import { versionsSuite } from './versions-suite.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

agentsSuite('PostgreSQL', () => postgres.freshDatabase());
customSuite('PostgreSQL', () => postgres.freshDatabase());
versionsSuite('PostgreSQL', () => postgres.freshDatabase());
