import { keysSuite } from './keys-suite.ts';
import { pushSuite } from './push-suite.ts';
import { receiptsSuite } from './receipts-suite.ts';
import { routesSuite } from './routes-suite.ts';

receiptsSuite('SQLite', async () => undefined);
keysSuite('SQLite', async () => undefined);
routesSuite('SQLite', async () => undefined);
pushSuite('SQLite', async () => undefined);
