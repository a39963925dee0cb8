import { freshDatabase } from '../support/postgres.ts';
import { cutTurnsSuite } from './cut-turns-suite.ts';
import { turnsSuite } from './turns-suite.ts';

turnsSuite('PostgreSQL', freshDatabase);
cutTurnsSuite('PostgreSQL', freshDatabase);
