import { agentsSuite } from './agents-suite.ts';
import { customSuite } from './custom-suite.ts';
import { versionsSuite } from './versions-suite.ts';

agentsSuite('SQLite', async () => undefined);
customSuite('SQLite', async () => undefined);
versionsSuite('SQLite', async () => undefined);
