import { isJsonObject } from '../../base/json.ts';
import type { ReceiptUsage } from '../../contract/receipts/parts.ts';
import { billedUsage } from '../../models/billed.ts';
import type { CloseTexts } from '../journal/texts.ts';
import { costText } from '../journal/writings.ts';
import { parsedText } from '../seal/canonical-text.ts';

/** The cost of an ended run, as JSON text; `null` when its model has no price. */
export type Pricer = (close: CloseTexts, model: string) => string;

/**
 * The price lists are loaded with the first run that needs them, and by the keeper: they are twenty megabytes, and looking a price up
 * costs as much as the rest of a receipt.
 */
export async function loadPricer(): Promise<Pricer> {
  const { costOf, priceVersionOf } = await import('../../models/cost.ts');
  return (close, model) => {
    const usage = parsedText(close.get('usage'));
    if (!isJsonObject(usage)) return 'null';
    const told = parsedText(model);
    // What is billed by the piece may have a price without a model.
    const name = typeof told === 'string' ? told : '';
    const prices = String(parsedText(close.get('prices')));
    // Our own journal wrote it from this type.
    const billed = billedUsage(usage as unknown as ReceiptUsage);
    const nanoUsd = costOf(billed, name, prices, new Date(Number(close.get('at'))));
    return nanoUsd === undefined ? 'null' : costText({ nano_usd: nanoUsd, price_version: priceVersionOf(prices) });
  };
}
