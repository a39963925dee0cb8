import { readyDatabase } from '../support/postgres.ts';
import { sessionsSuite } from './sessions-suite.ts';

sessionsSuite('PostgreSQL', readyDatabase);
