import { AbpError } from '../../contract/errors.ts';
import type { Holding } from '../bounds/body-budget.ts';
import { LONGEST_ANSWER } from '../bounds/collected.ts';
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
