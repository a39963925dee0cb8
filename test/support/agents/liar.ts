import { begin, print } from './print.ts';

begin();
print({ type: 'outcome', ok: false, code: process.env.FAKE_CODE ?? 'RATE_LIMITED', message: 'the model said 429' });
process.exitCode = 0;
