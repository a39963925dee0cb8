import { readyDatabase } from '../../support/postgres.ts';
import { agentsSuite } from './agents-suite.ts';
import { customSuite } from './custom-suite.ts';
import { versionsSuite } from './versions-suite.ts';

agentsSuite('PostgreSQL', readyDatabase);
customSuite('PostgreSQL', readyDatabase);
versionsSuite('PostgreSQL', readyDatabase);
