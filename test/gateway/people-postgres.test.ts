import { readyDatabase } from '../support/postgres.ts';
import { rolesSuite } from './roles-suite.ts';
import { signInSuite } from './sign-in-suite.ts';

rolesSuite('PostgreSQL', readyDatabase);
signInSuite('PostgreSQL', readyDatabase);
