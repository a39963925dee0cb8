import { openHome } from '../../src/home/home.ts';
import { openStore } from '../../src/store/database.ts';
import { temporaryHome } from '../store/temporary-home.ts';
import { readyDatabase } from '../support/postgres.ts';
import { marksSuite } from './marks-suite.ts';
import { usageSuite } from './usage-suite.ts';

const open = async () => openStore({ url: await readyDatabase(), home: openHome({ path: temporaryHome() }) });
usageSuite('PostgreSQL', open);
marksSuite('PostgreSQL', open);
