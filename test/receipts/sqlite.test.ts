import { chainSuite } from './chain-suite.ts';

chainSuite('SQLite', async () => undefined);
