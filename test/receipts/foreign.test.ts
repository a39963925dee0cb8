import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isForeign, verifyForeign } from '../../src/receipts/verify/verify-foreign.ts';
import { besideCorpus, NO_CORPUS } from '../support/corpus.ts';
import { needing } from '../support/needs.ts';

/** Receipts of another implementation with their hashes are not part of the repository; the recorded exchanges lie beside them. */
const FILE = besideCorpus('spec/abp-facts/receipt_hash_vectors.json');
const vectors: { origin: string; receipt: object }[] = FILE === undefined ? [] : JSON.parse(readFileSync(FILE, 'utf8'));

describe.skipIf(vectors.length === 0)(needing('receipts of another implementation', vectors.length === 0 ? NO_CORPUS : undefined), () => {
  it.each(vectors.map((vector, at) => ({ ...vector, at })))('verify by their own rule: $at $origin', ({ receipt }) => {
    const text = JSON.stringify(receipt, null, 2);
    expect(isForeign(text)).toBe(true);
    expect(verifyForeign(text)).toMatchObject({ ok: true });
    expect(verifyForeign(text.replace('"outcome": "', '"outcome": "x')).ok).toBe(false);
  });
});

/** Made by hand and by the rule: keys sorted by code point, compact, the hash null, numbers as they are written. */
const HAND_MADE = `{"meta":{"run_id":"r"},"b":1.0,"a":[1e+16,"ü",null],"receipt_sha256":"%"}`;

describe('a foreign receipt', () => {
  it('keeps the digits of its numbers, whatever JavaScript would write', () => {
    const text = HAND_MADE.replace('%', 'adc4422b1ac3ff33a7835109d8ddb7f612d5debce6787e387dcef502604d9184');
    expect(verifyForeign(text)).toMatchObject({ ok: true, runId: 'r' });
    expect(verifyForeign(text.replace('1.0', '1')).verdict).toMatch(/^was changed: its hash is [0-9a-f]{64}, not adc4422b/);
  });

  it('is refused when a member is there twice, when it has no hash, and when it is none', () => {
    expect(verifyForeign('{"meta":{},"a":1,"a":1,"receipt_sha256":""}').verdict).toBe('has the member a twice');
    expect(verifyForeign('{"meta":{}}').verdict).toBe('has no receipt_sha256');
    expect(verifyForeign('[]').ok).toBe(false);
    expect([isForeign('{"seal":{}}'), isForeign('{"meta":{}}'), isForeign('x')]).toEqual([false, true, false]);
  });
});
