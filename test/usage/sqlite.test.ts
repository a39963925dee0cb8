import { openHome } from '../../src/home/home.ts';
import { openStore } from '../../src/store/database.ts';
import { temporaryHome } from '../store/temporary-home.ts';
import { usageSuite } from './usage-suite.ts';

usageSuite('SQLite', () => openStore({ home: openHome({ path: temporaryHome() }) }));
