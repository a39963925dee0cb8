import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSecretName, REDACTED, redactor, withoutCredentials } from './redact.ts';

const { text, body, headers, holdsSecret, value } = redactor();

const alnum = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'];
const upper = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
const lower = [...'abcdefghijklmnopqrstuvwxyz0123456789'];
const tail = (characters: readonly string[], minLength: number, maxLength = minLength + 40): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...characters), minLength, maxLength });
const word = [...alnum, '_', '-'];

/** A key of each issuer, as long as the issuer makes them. */
const keys: Readonly<Record<string, fc.Arbitrary<string>>> = {
  anthropic: tail(word, 80).map((rest) => `sk-ant-api03-${rest}`),
  'openai project': tail(word, 40).map((rest) => `sk-proj-${rest}`),
  'openai legacy': tail(alnum, 48, 48).map((rest) => `sk-${rest}`),
  openrouter: tail(lower, 64, 64).map((rest) => `sk-or-v1-${rest}`),
  google: tail(word, 35, 35).map((rest) => `AIza${rest}`),
  'google access token': tail(word, 60).map((rest) => `ya29.${rest}`),
  github: tail(alnum, 36, 36).map((rest) => `ghp_${rest}`),
  'github fine-grained': tail(alnum, 40).map((rest) => `github_pat_${rest}`),
  aws: tail(upper, 16, 16).map((rest) => `AKIA${rest}`),
  groq: tail(alnum, 52).map((rest) => `gsk_${rest}`),
  xai: tail(alnum, 80).map((rest) => `xai-${rest}`),
  perplexity: tail(alnum, 48).map((rest) => `pplx-${rest}`),
  'hugging face': tail(alnum, 34).map((rest) => `hf_${rest}`),
  nvidia: tail(word, 60).map((rest) => `nvapi-${rest}`),
  kimi: tail(alnum, 48).map((rest) => `sk-kimi-${rest}`),
  ours: tail(word, 43, 43).map((rest) => `abp_${rest}`),
  slack: tail([...alnum, '-'], 30).map((rest) => `xoxb-${rest}`),
  'json web token': fc.tuple(tail(word, 20), tail(word, 20), tail(word, 20)).map(([a, b, c]) => `eyJ${a}.eyJ${b}.${c}`),
  'bearer token': tail([...alnum, '.', '~', '+', '/'], 30).map((rest) => `Bearer 1${rest}`),
  'private key': tail([...alnum, '\n'], 60).map((rest) => `-----BEGIN RSA PRIVATE KEY-----\n${rest}\n-----END RSA PRIVATE KEY-----`),
};

/** What may stand around a key without being part of it. */
const before = fc.tuple(fc.string(), fc.constantFrom('', ' ', '"', '=', ':', '\\n', '\\u000a', '%20', '_', '-', '\n')).map(
  // A letter or digit right before would make it a part of another word.
  ([some, mark]) => (mark === '' && /[A-Za-z0-9]$/.test(some) ? `${some} ` : `${some}${mark}`),
);
const after = fc.tuple(fc.constantFrom('"', ' ', '\\n', ',', '}', '\n'), fc.string()).map(([mark, rest]) => `${mark}${rest}`);

describe.each(Object.entries(keys))('a key of the kind %s', (_, key) => {
  it('survives nowhere, is found in a body, and is gone from the redacted one', () => {
    fc.assert(
      fc.property(before, key, after, (head, secret, rest) => {
        const whole = `${head}${secret}${rest}`;
        expect(text(whole)).not.toContain(secret.slice(0, -2));
        expect(holdsSecret(Buffer.from(whole))).toBe(true);
        const cleaned = body(Buffer.from(whole));
        expect(cleaned.toString()).not.toContain(secret.slice(0, -2));
        expect(holdsSecret(cleaned)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });
});

describe('what is no secret', () => {
  it.each([
    'a task-0123456789abcdef0123456789abcdef0123456789 of the desk-top',
    'sk-ant-… is what keys of Anthropic begin with',
    'Authorization: Bearer YOUR_TOKEN_GOES_RIGHT_HERE',
    '{"input_tokens":12,"prompt_cache_key":"session-1"}',
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'https://example.test/v1/messages?beta=true',
    'run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b',
  ])('stays as it is: %s', (plain) => {
    expect(text(plain)).toBe(plain);
    expect(holdsSecret(Buffer.from(plain))).toBe(false);
  });

  it('is found exactly where redaction would change the body', () => {
    const piece = fc.oneof(fc.string(), fc.constantFrom('sk-', 'ghp_', 'AIza', 'eyJ', 'Bearer ', '.', '\\n'), tail(alnum, 0, 60));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const bytes = Buffer.from(pieces.join(''));
        expect(holdsSecret(bytes)).toBe(!body(bytes).equals(bytes));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('headers, addresses and values', () => {
  it('lose the values of secret names and keep the rest', () => {
    const raw = [
      'Authorization',
      'Basic eA==',
      'X-Api-Key',
      'short',
      'x-ratelimit-limit-tokens',
      '40000',
      'anthropic-version',
      '2023-06-01',
    ];
    expect(headers(raw)).toEqual([
      'Authorization',
      REDACTED,
      'X-Api-Key',
      REDACTED,
      'x-ratelimit-limit-tokens',
      '40000',
      'anthropic-version',
      '2023-06-01',
    ]);
  });

  it('lose credentials in a query and a password before the host', () => {
    expect(text('GET /v1beta/models/g:generateContent?alt=sse&key=short')).toBe(
      `GET /v1beta/models/g:generateContent?alt=sse&key=${REDACTED}`,
    );
    expect(text('postgres://abp:hunter2@db/abp?sslmode=require')).toBe(`postgres://abp:${REDACTED}@db/abp?sslmode=require`);
  });

  it('keep every other parameter of an address as it is', () => {
    expect(withoutCredentials('/v1beta/models/g:streamGenerateContent?alt=sse&key=short&x=%2F&&y')).toBe(
      '/v1beta/models/g:streamGenerateContent?alt=sse&x=%2F&&y',
    );
    expect(withoutCredentials('/v1/x?key=short')).toBe('/v1/x');
    expect(withoutCredentials('/v1/messages?beta=true')).toBe('/v1/messages?beta=true');
  });

  it('are cleaned at any depth', () => {
    expect(value({ error: { headers: { 'x-api-key': 'short' } }, list: ['AKIAABCDEFGHIJKLMNOP'], count: 3, password: '' })).toEqual({
      error: { headers: { 'x-api-key': REDACTED } },
      list: [REDACTED],
      count: 3,
      password: '',
    });
  });

  it('know a secret by its name', () => {
    expect(['authorization', 'x-goog-api-key', 'Set-Cookie', 'client_secret'].every(isSecretName)).toBe(true);
    expect(['max_tokens', 'input_tokens', 'prompt_cache_key', 'monkey', 'idempotency-key'].some(isSecretName)).toBe(false);
  });
});

describe('own patterns', () => {
  const own = redactor(['CUSTOMER-\\d{6}', 'geheim\\w+ß']);

  it('are removed from texts and bodies', () => {
    expect(own.text('for CUSTOMER-123456 only')).toBe(`for ${REDACTED} only`);
    expect(own.holdsSecret(Buffer.from('geheimnisß'))).toBe(true);
    expect(own.body(Buffer.from('ü geheimnisß ü')).toString()).toBe(`ü ${REDACTED} ü`);
    expect(own.holdsSecret(Buffer.from('CUSTOMER-12345'))).toBe(false);
  });
});

describe('secrets that are known by their value', () => {
  const SECRET = 'hunter2 & "correct" horse/ä';
  const { text, body, holdsSecret } = redactor([], [SECRET]);

  it.each([
    ['plain', SECRET],
    ['in JSON', JSON.stringify(SECRET)],
    ['in an address', encodeURIComponent(SECRET)],
    ['in a query', new URLSearchParams({ a: SECRET }).toString()],
    ['in base64', Buffer.from(SECRET).toString('base64')],
    ['behind a name in base64', Buffer.from(`user:${SECRET}`).toString('base64')],
    ['behind a longer name in base64', Buffer.from(`users:${SECRET}`).toString('base64')],
    ['in base64 for addresses', Buffer.from(`names:x${SECRET}`).toString('base64url')],
  ])('are found %s', (_, written) => {
    const around = `before ${written} after`;
    expect(holdsSecret(Buffer.from(around))).toBe(true);
    expect(text(around)).toContain(REDACTED);
    expect(body(Buffer.from(around)).toString()).toContain(REDACTED);
    expect(text(around)).not.toContain('hunter2');
    expect(text(around)).not.toContain(Buffer.from('correct').toString('base64').slice(2, -3));
  });

  it('leave other bytes as they are, and values too short to be a secret', () => {
    const bytes = Buffer.from([0xff, 0x00, 0xfe, ...Buffer.from(SECRET), 0x80]);
    expect(body(bytes)).toEqual(Buffer.concat([Buffer.from([0xff, 0x00, 0xfe]), Buffer.from(REDACTED), Buffer.from([0x80])]));
    expect(redactor([], ['abc']).text('abc')).toBe('abc');
  });
});
