import { agentsSuite } from './agents-suite.ts';
import { customSuite } from './custom-suite.ts';

agentsSuite('SQLite', async () => undefined);
customSuite('SQLite', async () => undefined);
