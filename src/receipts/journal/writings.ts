import type { Writing } from '../../contract/receipts/field.ts';
import type { Attempt, ReceiptUsage, ToolCallRecord } from '../../contract/receipts/parts.ts';
import type { Receipt } from '../../contract/receipts/receipt.ts';
import { canonicalText, plainText } from '../seal/canonical-text.ts';
import { type FactTexts, jsonText } from './fact-texts.ts';
import type { Digest } from './facts.ts';

/** How values of one kind become JSON text, and how the keeper makes that the bytes of its RFC 8785 form. */
interface Form<T> {
  write(value: T, texts: FactTexts): string;
  /** Absent where the text has no other form: digits, words of ours, members that are written in order below. */
  canonical?(text: string): string;
}

interface Values {
  readonly plain: number | boolean | null;
  readonly word: string | null;
  readonly name: string | null;
  readonly names: readonly string[];
  readonly list: readonly object[] | undefined;
  readonly value: object | null | undefined;
  readonly json: object | null;
  readonly digest: Digest | null;
  readonly response: (Digest & { readonly status: number }) | null;
  readonly usage: ReceiptUsage | null;
  readonly cost: Receipt['cost'];
  readonly error: Receipt['error'];
  readonly attempts: readonly Attempt[];
  readonly calls: readonly ToolCallRecord[];
}

/** Members stand in the order of RFC 8785, because the texts also go into documents and hashes as they are. */
export const WRITINGS: { readonly [W in Writing]: Form<Values[W]> } = {
  plain: { write: (value) => `${value}` },
  word: { write: (value) => (value === null ? 'null' : `"${value}"`) },
  name: { write: (value, texts) => texts.name(value ?? null), canonical: plainText },
  names: { write: (value, texts) => texts.list(value), canonical: plainText },
  list: { write: (value, texts) => (value === undefined ? '[]' : texts.list(value)), canonical: canonicalText },
  value: { write: (value, texts) => texts.value(value ?? null), canonical: canonicalText },
  json: { write: jsonText, canonical: canonicalText },
  digest: { write: (value) => (value === null ? 'null' : `{"bytes":${value.bytes},"sha256":"${value.sha256}"}`) },
  response: { write: responseText },
  usage: { write: usageText },
  cost: { write: costText, canonical: plainText },
  error: { write: errorText, canonical: plainText },
  attempts: { write: attemptsText, canonical: plainText },
  calls: { write: toolCallsText, canonical: plainText },
};

export function responseText(response: Values['response']): string {
  return response === null ? 'null' : `{"bytes":${response.bytes},"sha256":"${response.sha256}","status":${response.status}}`;
}

export function costText(cost: Values['cost']): string {
  return cost === null ? 'null' : `{"nano_usd":${cost.nano_usd},"price_version":${jsonText(cost.price_version)}}`;
}

/** An engine's words on a failure may name the key it was called with. */
function errorText(error: Values['error'], texts: FactTexts): string {
  return error === null ? 'null' : `{"code":${texts.name(error.code)},"message":${texts.name(error.message)}}`;
}

/** The counts are the engine's and may be anything that JSON calls a number; sums of them may be no number at all. */
export function usageText(usage: Values['usage']): string {
  if (usage === null) return 'null';
  return (
    `{"cache_read_tokens":${count(usage.cache_read_tokens)},"cache_write_tokens":${count(usage.cache_write_tokens)}${detailsText(usage.details)},"estimated":${usage.estimated}` +
    `,"input_tokens":${count(usage.input_tokens)},"output_tokens":${count(usage.output_tokens)},"thinking_tokens":${count(usage.thinking_tokens)}` +
    `,"web_search_requests":${count(usage.web_search_requests)}}`
  );
}

/** Its few members in the order of RFC 8785. */
function detailsText(details: ReceiptUsage['details']): string {
  if (details === undefined) return '';
  const told = Object.entries(details).filter(([, value]) => value !== undefined);
  return `,"details":{${told
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `"${name}":${typeof value === 'number' ? count(value) : jsonText(value ?? null)}`)
    .join(',')}}`;
}

function count(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

function attemptsText(attempts: Values['attempts'], texts: FactTexts): string {
  const all = attempts.map(
    ({ engine, deployment, status, error, ms }) =>
      `{${deployment === undefined ? '' : `"deployment":${texts.name(deployment)},`}"engine":${texts.name(engine)},"error":${texts.name(error)},"ms":${ms},"status":${status}}`,
  );
  return `[${all.join(',')}]`;
}

function toolCallsText(calls: Values['calls'], texts: FactTexts): string {
  if (calls.length === 0) return '[]';
  const all = calls.map(
    ({ arguments_sha256: argumentsHash, id, name, result_sha256: resultHash }) =>
      `{"arguments_sha256":"${argumentsHash}","id":${texts.name(id)},"name":${texts.name(name)},"result_sha256":${resultHash === null ? resultHash : `"${resultHash}"`}}`,
  );
  return `[${all.join(',')}]`;
}
