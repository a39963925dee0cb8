import { afterAll, beforeAll } from 'vitest';
import { openHome } from '../../src/home/home.ts';
import { openStore } from '../../src/store/database.ts';
import { temporaryHome } from '../store/temporary-home.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { usageSuite } from './usage-suite.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

usageSuite('PostgreSQL', async () => openStore({ url: await postgres.freshDatabase(), home: openHome({ path: temporaryHome() }) }));
