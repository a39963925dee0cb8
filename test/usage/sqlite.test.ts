import { openHome } from '../../src/home/home.ts';
import { openStore } from '../../src/store/database.ts';
import { temporaryHome } from '../store/temporary-home.ts';
import { marksSuite } from './marks-suite.ts';
import { usageSuite } from './usage-suite.ts';

const open = () => openStore({ home: openHome({ path: temporaryHome() }) });
usageSuite('SQLite', open);
marksSuite('SQLite', open);
