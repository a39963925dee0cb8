import { openHome } from '../../src/home/home.ts';
import { openStore } from '../../src/store/database.ts';
import { temporaryHome } from '../store/temporary-home.ts';
import { readyDatabase } from '../support/postgres.ts';
import { tablesSuite } from './tables-suite.ts';

tablesSuite('SQLite', async () => openStore({ home: openHome({ path: temporaryHome() }) }));
tablesSuite('PostgreSQL', async () => openStore({ home: openHome({ path: temporaryHome() }), url: await readyDatabase() }));
