import { freshDatabase } from '../support/postgres.ts';
import { chainSuite } from './chain-suite.ts';

chainSuite('PostgreSQL', freshDatabase);
