import { readyDatabase } from '../support/postgres.ts';
import { cutTurnsSuite } from './cut-turns-suite.ts';
import { turnsSuite } from './turns-suite.ts';

turnsSuite('PostgreSQL', readyDatabase);
cutTurnsSuite('PostgreSQL', readyDatabase);
