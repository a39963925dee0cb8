import { turnsSuite } from './turns-suite.ts';

turnsSuite('SQLite', async () => undefined);
