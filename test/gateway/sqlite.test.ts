import { keysSuite } from './keys-suite.ts';
import { receiptsSuite } from './receipts-suite.ts';

receiptsSuite('SQLite', async () => undefined);
keysSuite('SQLite', async () => undefined);
