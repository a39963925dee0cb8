import { afterAll, beforeAll } from 'vitest';
import { openHome } from '../../src/home/home.ts';
import { openStore } from '../../src/store/database.ts';
import { temporaryHome } from '../store/temporary-home.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { tablesSuite } from './tables-suite.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

tablesSuite('SQLite', async () => openStore({ home: openHome({ path: temporaryHome() }) }));
tablesSuite('PostgreSQL', async () => openStore({ home: openHome({ path: temporaryHome() }), url: await postgres.freshDatabase() }));
