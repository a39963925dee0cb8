import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { ChainVerification } from '../../contract/receipts/chain-verification.ts';
import { verifyExport } from '../../receipts/verify/verify-bytes.ts';
import type { OutsideHead } from '../../receipts/verify/verify-chain.ts';
import { withProblems } from '../../receipts/verify/verify-home.ts';
import { counted } from '../numbers.ts';
import type { Paint } from '../output.ts';
import type { ExportRange, ReceiptSource } from './source.ts';

/** Whom and what a check believes besides the receipts themselves. */
export interface Trust {
  /** None: the keys that the home has published. */
  readonly publicKeys: readonly string[];
  readonly head?: OutsideHead | undefined;
  readonly mayBeEmpty?: boolean;
}

/** Checks part of a chain, as it is exported and as the home keeps it. */
export async function verifyRange(source: ReceiptSource, range: ExportRange, trust: Trust): Promise<ChainVerification> {
  const publicKeys = trust.publicKeys.length > 0 ? trust.publicKeys : (await source.keys()).map((key) => key.public_key);
  const found = await verifyExport(source.export({}, range), { ...trust, publicKeys });
  const { problems, notes } = await source.verify(range);
  return withProblems(
    { ...found, notes: [...new Set([...found.notes, ...notes])] },
    problems.filter(({ code }) => OF_HOME.has(code)),
  );
}

/** Faults that only the home can show: columns that were changed, stubs that nobody made, receipts that were put in, an end that this home has not signed. */
const OF_HOME: ReadonlySet<string> = new Set([
  'column_changed',
  'unrecorded_removal',
  'unsealed',
  'cut',
  'head_mismatch',
  'wrong_key',
  'missing',
]);

/** The place of a receipt in its chain; undefined until it is sealed. */
export function sequenceOf({ seal }: JsonObject): number | undefined {
  const sequence = isJsonObject(seal) ? seal.sequence : undefined;
  return typeof sequence === 'number' ? sequence : undefined;
}

/** The findings of a check as lines for people. */
export function verdictLines(found: ChainVerification, paint: Paint): string[] {
  const { ok, verdict, receipts, removed, withheld, keys, notes, problems, problem_count: count } = found;
  const counts = [
    `${counted(receipts, 'receipt')} checked`,
    ...(removed > 0 ? [`${removed} removed on record`] : []),
    ...(withheld > 0 ? [`${withheld} left out`] : []),
  ];
  return [
    `${ok ? paint.good('ok') : paint.bad('NOT OK')}  ${verdict}`,
    paint.faint(`${counts.join(', ')}${keys.length === 0 ? '' : `; signed by ${keys.join(', ')}`}`),
    ...notes.map((note) => `${paint.warn('note')}  ${note}`),
    ...problems.map(({ line, code, message }) => `${paint.bad(code)}  ${line === 0 ? '' : `line ${line}: `}${message}`),
    ...(count > problems.length ? [paint.faint(`and ${count - problems.length} more`)] : []),
  ];
}
