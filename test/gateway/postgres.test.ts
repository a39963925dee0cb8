import { readyDatabase } from '../support/postgres.ts';
import { keysSuite } from './keys-suite.ts';
import { pushSuite } from './push-suite.ts';
import { receiptsSuite } from './receipts-suite.ts';
import { routesSuite } from './routes-suite.ts';

receiptsSuite('PostgreSQL', readyDatabase);
keysSuite('PostgreSQL', readyDatabase);
routesSuite('PostgreSQL', readyDatabase);
pushSuite('PostgreSQL', readyDatabase);
