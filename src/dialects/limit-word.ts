import { type JsonObject, objectIn } from '../base/json.ts';
import type { ErrorCode } from '../contract/errors.ts';
import type { IrErrorKind } from '../ir/response.ts';

/** The errors of ours that a vendor has a word for which its SDKs and agents look for. */
const KINDS: ReadonlyMap<unknown, IrErrorKind> = new Map<ErrorCode, IrErrorKind>([
  ['rate_limited', 'rate-limit'],
  ['budget_exceeded', 'quota'],
]);

/** An error of ours with the vendor's own type where a limit or a budget is reached; `code` stays our word. */
export function withLimitWord(body: JsonObject, words: Readonly<Record<IrErrorKind, { readonly type?: string }>>): JsonObject {
  const error = objectIn(body.error);
  const kind = KINDS.get(error?.code);
  const type = kind === undefined ? undefined : words[kind].type;
  return type === undefined ? body : { ...body, error: { ...error, type } };
}
