import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { VendorMeta } from '../../ir/part.ts';
import type { FateNote } from '../dialect.ts';

const NO_MARK: JsonObject = {};

/**
 * Cache marks are Claude's own word, and callers of other dialects write it too where their SDK lets them add members. Such a mark
 * goes on with its lifetime: losing it changes nothing but the bill.
 */
export function foreignMark(node: { readonly at?: string; readonly meta?: VendorMeta }, notes: FateNote[]): JsonObject {
  // Most nodes of a long conversation have nothing of any vendor.
  if (node.meta === undefined) return NO_MARK;
  const marks = Object.entries(node.meta).filter(([dialect]) => dialect !== 'claude');
  const mark = marks.map(([, members]) => members.cache_control).find(isJsonObject);
  if (mark === undefined) return NO_MARK;
  notes.push({
    concept: 'cache_mark',
    fate: 'renamed',
    code: 'cache_mark_kept',
    note: 'cache_control',
    ...(node.at === undefined ? {} : { at: node.at }),
  });
  return { cache_control: mark };
}
