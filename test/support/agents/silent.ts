import { begin, forEver } from './print.ts';

begin();
forEver();
