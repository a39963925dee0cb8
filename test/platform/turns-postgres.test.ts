import { afterAll, beforeAll } from 'vitest';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { cutTurnsSuite } from './cut-turns-suite.ts';
import { turnsSuite } from './turns-suite.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

turnsSuite('PostgreSQL', () => postgres.freshDatabase());
cutTurnsSuite('PostgreSQL', () => postgres.freshDatabase());
