import { afterAll, beforeAll } from 'vitest';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { chainSuite } from './chain-suite.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

chainSuite('PostgreSQL', () => postgres.freshDatabase());
