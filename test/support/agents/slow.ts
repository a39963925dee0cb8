import { begin, say } from './print.ts';

begin();
setInterval(() => say('tick '), 50);
