import type { Context } from '../command.ts';
import type { Account } from './format.ts';

/** Rows, files and bytes in words. */
export function amounts({ rows, files, bytes }: Account): string {
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  return `${total.toLocaleString('en')} rows, ${files.toLocaleString('en')} files (${(bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })} MB)`;
}

/** Says on the standard error how far it is, for people alone. */
export function progress({ io, output }: Context, doing: string): (account: Account) => void {
  return (account) => {
    if (!output.json) io.stderr.write(`${output.paint.faint(`${doing}: ${amounts(account)} so far`)}\n`);
  };
}
