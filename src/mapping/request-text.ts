import { isUtf8 } from 'node:buffer';
import { isJsonObject, type Json, parseJson } from '../base/json.ts';
import { marksIn, repeatedMember } from '../base/json-repeats.ts';
import { AbpError } from '../contract/errors.ts';

/**
 * The value of a request that must be read. Throws where the text is no JSON, and where two readers could read two things out of it: bytes
 * that are no UTF-8, which we would replace, and members that an object has twice, of which we would see one and the engine or a rule the
 * other. `values` is the count of the scan (`Scan.values`).
 */
export function readRequest(text: Buffer, values?: number): Json {
  if (!isUtf8(text)) throw unreadable('it holds bytes that are not UTF-8');
  const written = text.toString('utf8');
  const parsed = parseJson(written);
  if (!parsed.ok) throw unreadable(parsed.message);
  if (values !== undefined && values !== scannedValues(parsed.value))
    throw unreadable(`the member "${repeatedMember(written) ?? ''}" is repeated`);
  return parsed.value;
}

/** The same value, and nothing where `readRequest` throws. */
export function requestIn(text: Buffer, values: number): Json | undefined {
  const parsed = isUtf8(text) ? parseJson(text.toString('utf8')) : undefined;
  return parsed?.ok === true && scannedValues(parsed.value) === values ? parsed.value : undefined;
}

/** The count of the scan for a body that repeats no member: each member of the body, and what is inside. */
function scannedValues(body: Json): number {
  let count = 0;
  for (const member of isJsonObject(body) ? Object.values(body) : []) count += Math.max(1, marksIn(member));
  return count;
}

function unreadable(reason: string): AbpError {
  return new AbpError('invalid_request', `The request body is not valid JSON: ${reason}.`);
}
