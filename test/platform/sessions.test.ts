import { sessionsSuite } from './sessions-suite.ts';

sessionsSuite('SQLite', async () => undefined);
