import { cutTurnsSuite } from './cut-turns-suite.ts';
import { turnsSuite } from './turns-suite.ts';

turnsSuite('SQLite', async () => undefined);
cutTurnsSuite('SQLite', async () => undefined);
