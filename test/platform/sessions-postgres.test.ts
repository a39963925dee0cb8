import { afterAll, beforeAll } from 'vitest';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { sessionsSuite } from './sessions-suite.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

sessionsSuite('PostgreSQL', () => postgres.freshDatabase());
