import { begin, print } from './print.ts';

/** Prints the event that its prompt is, and ends without another word. */
begin();
print(JSON.parse(process.argv[2] ?? '{}'));
