import { begin } from './print.ts';

begin();
process.stderr.write('something broke\n');
process.stdout.write('{"type":"text_del', () => process.exit(3));
