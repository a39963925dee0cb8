import { rolesSuite } from './roles-suite.ts';
import { signInSuite } from './sign-in-suite.ts';

const own = async (): Promise<undefined> => undefined;
rolesSuite('SQLite', own);
signInSuite('SQLite', own);
