import { begin, say, succeed } from './print.ts';

begin();
for (let at = 0; at < 5000; at += 1) say(`${at} `);
succeed();
