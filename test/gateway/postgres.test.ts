import { afterAll, beforeAll } from 'vitest';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { keysSuite } from './keys-suite.ts';
import { receiptsSuite } from './receipts-suite.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

receiptsSuite('PostgreSQL', () => postgres.freshDatabase());
keysSuite('PostgreSQL', () => postgres.freshDatabase());
