import { isJsonObject, type Json } from '../../base/json.ts';
import type { ErrorCode } from '../../contract/errors.ts';

/** Errors of calls of which nothing came to an engine: refused by us, or nobody was there to take them. A budget of calls does not count them. */
export const UNSENT: readonly ErrorCode[] = [
  'E001',
  'E002',
  'E003',
  'E004',
  'E005',
  'E006',
  // The engine has no key or no address here, or cannot be reached at it.
  'E007',
  'invalid_request',
  'forbidden',
  'not_found',
  'payload_too_large',
  'unprocessable',
  'upgrade_required',
  'rate_limited',
  'budget_exceeded',
  'overloaded',
];

const CODES: ReadonlySet<string> = new Set(UNSENT);

export function isUnsent(code: string): boolean {
  return CODES.has(code);
}

/** Whether an earlier try has come to an engine though the error of the last one says that none was sent: the call counts. */
export function hasReached(code: string, attempts: Json | undefined): boolean {
  return isUnsent(code) && Array.isArray(attempts) && attempts.some((one) => isJsonObject(one) && typeof one.status === 'number');
}
