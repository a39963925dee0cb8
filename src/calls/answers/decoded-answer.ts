import { AT_ONCE } from '../../base/bounded/buffers.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Holding } from '../bounds/body-budget.ts';
import { type Collected, LONGEST_ANSWER } from '../bounds/collected.ts';
import { decompress, isEncoding } from '../bounds/decoding.ts';
import { undecodable } from './answer-errors.ts';

/** A whole answer in plain text. Engines are asked not to compress; a proxy before one may do so all the same. */
export async function decodedAnswer(body: Buffer, encoding: string, holding: Holding): Promise<Buffer> {
  if (!isEncoding(encoding)) throw undecodable(encoding);
  try {
    return await decompress(body, encoding, { most: LONGEST_ANSWER, holding });
  } catch (thrown) {
    throw AbpError.is(thrown) ? thrown : undecodable(encoding);
  }
}

/** All that was collected, in plain text: at once where it is short and not compressed. */
export function collectedAnswer(collected: Collected, encoding: string, holding: Holding): Buffer | Promise<Buffer> {
  if (encoding === '' && collected.bytes <= AT_ONCE) return collected.whole();
  return collected.wholeInTurns().then((body) => (encoding === '' ? body : decodedAnswer(body, encoding, holding)));
}
