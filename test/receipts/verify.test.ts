import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChainVerification } from '../../src/contract/receipts/chain-verification.ts';
import { removeReceipts } from '../../src/receipts/remove.ts';
import { rotateKey } from '../../src/receipts/seal/rotate.ts';
import { readPublicKey } from '../../src/receipts/seal/seal-keys.ts';
import { verifyExport } from '../../src/receipts/verify/verify-bytes.ts';
import type { VerifyOptions } from '../../src/receipts/verify/verify-chain.ts';
import { type SealedHome, sealedHome } from './sealed-home.ts';

/** `npm run fuzz` changes every byte; `npm test` a part of them, the same ones each time. */
const all = process.env.ABP_FUZZ === 'all';
const STRIDE = all ? 1 : 13;

let home: SealedHome;
let firstKey: string;
let lines: readonly string[];

/** A chain with everything in it: 5 receipts, a rotation, a removal that makes a stub, 2 receipts. */
beforeAll(async () => {
  home = await sealedHome();
  firstKey = home.chain.signer.publicKey;
  await home.seal(1, { task: 'Grüße → sim 😀' });
  await home.seal(2);
  await home.seal(1, { keyId: 'key_x', tags: ['gone'] });
  await home.seal(1, {}, { status: 'failed', reason: 'timeout', error: { code: 'engine_timeout', message: 'too "late"\n' } });
  await rotateKey(home.store, home.chain, home.keysFolder);
  await removeReceipts(home.store, home.chain, { status: 'deleted', reason: 'asked', key: 'key_x' });
  await home.seal(2);
  lines = await home.lines();
});
afterAll(() => home.close());

const bytesOf = (text: readonly string[]): Buffer => Buffer.from(text.map((line) => `${line}\n`).join(''));
const verify = (bytes: Buffer, options: Partial<VerifyOptions> = {}): Promise<ChainVerification> =>
  verifyExport([bytes], { publicKeys: [firstKey], ...options });
const codes = ({ problems }: ChainVerification): string[] => problems.map(({ code }) => code);
const lastHead = (): { sequence: number; hash: string } => JSON.parse(lines.at(-1) ?? '');

describe('an export', () => {
  it('verifies with the first public key alone, and says what it cannot know', async () => {
    expect(await verify(bytesOf(lines))).toMatchObject({
      ok: true,
      verdict: 'complete up to 9, tail unknown',
      node: 'node_a',
      receipts: 6,
      removed: 1,
      withheld: 0,
      first: 1,
      last: 9,
      tail: 'unknown',
      problems: [],
    });
  });

  it('verifies with the newest public key alone: both keys signed the rotation', async () => {
    expect(await verify(bytesOf(lines), { publicKeys: [home.chain.signer.publicKey] })).toMatchObject({ ok: true });
  });

  it('is complete with a head from elsewhere', async () => {
    expect(await verify(bytesOf(lines), { head: lastHead() })).toMatchObject({ ok: true, verdict: 'complete up to 9', tail: 'known' });
  });

  it('holds lines in their RFC 8785 form, batch signatures and the change of key among them', () => {
    const kinds = lines.map((line) => JSON.parse(line).kind ?? 'receipt');
    expect(kinds).toEqual([
      ...['receipt', 'head', 'receipt', 'receipt', 'head', 'link', 'head', 'receipt', 'head'],
      ...['rotation', 'head', 'removal', 'head', 'receipt', 'receipt', 'head'],
    ]);
    expect(lastHead()).toMatchObject({ kind: 'head', count: 9, sequence: 9, from: 8, signature: expect.stringMatching(/^[0-9a-f]{128}$/) });
  });

  it('verifies in pieces of any size', async () => {
    const bytes = bytesOf(lines);
    const size = fc.integer({ min: 1, max: 5000 });
    await fc.assert(
      fc.asyncProperty(size, async (step) => {
        const pieces = Array.from({ length: Math.ceil(bytes.length / step) }, (_, at) => bytes.subarray(at * step, (at + 1) * step));
        expect(await verifyExport(pieces, { publicKeys: [firstKey] })).toMatchObject({ ok: true, receipts: 6 });
      }),
      { numRuns: 20 },
    );
  });

  it('of a range verifies as that range', async () => {
    const range = await home.lines({ from: 2, to: 2 });
    expect(await verify(bytesOf(range))).toMatchObject({ ok: true, verdict: 'complete from 2 to 3, tail unknown', receipts: 2 });
  });

  it('of some receipts verifies by links in place of the others', async () => {
    const some = await home.lines({ filter: { status: 'failed' } });
    expect(await verify(bytesOf(some))).toMatchObject({ ok: true, verdict: 'complete from 5 to 5, tail unknown', receipts: 1 });
    const both = await home.lines({ filter: { status: 'completed' } });
    expect(await verify(bytesOf(both))).toMatchObject({ ok: true, receipts: 5, removed: 1, withheld: 1 });
  });
});

describe('the verifier', () => {
  /** A link, a receipt, a rotation and a removal, each with its head. */
  const oneOfEach = (): Promise<string[]> => home.lines({ from: 4, to: 7 });

  it('finds every changed byte', { timeout: 300_000 }, async () => {
    const bytes = bytesOf(await oneOfEach());
    expect((await verify(bytes)).ok).toBe(true);
    const missed: number[] = [];
    for (let at = 0; at < bytes.length; at += STRIDE) {
      const changed = Buffer.from(bytes);
      changed[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      if ((await verify(changed)).ok) missed.push(at);
    }
    expect(missed).toEqual([]);
    expect(bytes.length).toBeGreaterThan(4000);
  });

  it('finds every byte that was taken away, put in or doubled', async () => {
    const bytes = bytesOf(await oneOfEach());
    const place = fc.integer({ min: 0, max: bytes.length - 1 });
    await fc.assert(
      fc.asyncProperty(place, fc.constantFrom(' ', '0', '\n', '"', '}'), async (at, put) => {
        const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
        expect((await verify(Buffer.concat([before, after.subarray(1)]))).ok).toBe(false);
        expect((await verify(Buffer.concat([before, Buffer.from(put), after]))).ok).toBe(false);
      }),
      { numRuns: all ? 1000 : 50 },
    );
  });

  it('finds every line that is left out, and says which', async () => {
    for (const [at, line] of lines.entries()) {
      const { seal, kind } = JSON.parse(line);
      const found = await verify(bytesOf(lines.toSpliced(at, 1)));
      expect(found.ok).toBe(false);
      if (kind === 'head' && at < lines.length - 1) expect(codes(found)).toContain('missing_head');
      if (kind === undefined && at > 0) expect(found.problems.map(({ message }) => message).join()).toContain(`entry ${seal.sequence}`);
    }
  });

  it('finds every line that is repeated, there or at the end', async () => {
    for (const [at, line] of lines.entries()) {
      expect((await verify(bytesOf(lines.toSpliced(at, 0, line)))).ok).toBe(false);
      expect((await verify(bytesOf([...lines, line]))).ok).toBe(false);
    }
    expect(codes(await verify(bytesOf(lines.toSpliced(2, 0, lines[2] ?? ''))))).toEqual(['repeated']);
  });

  it('finds every two lines that changed places', async () => {
    for (let a = 0; a < lines.length; a += 1) {
      for (let b = a + 1; b < lines.length; b += 1) {
        const swapped = lines.with(a, lines[b] ?? '').with(b, lines[a] ?? '');
        expect((await verify(bytesOf(swapped))).ok, `lines ${a} and ${b}`).toBe(false);
      }
    }
    const swapped = lines.with(2, lines[3] ?? '').with(3, lines[2] ?? '');
    expect(codes(await verify(bytesOf(swapped)))).toContain('reordered');
  });

  it('finds a member that is there twice', async () => {
    const doubled = (lines[0] ?? '').replace('"mode":', '"mode":"passthrough","mode":');
    const { problems } = await verify(bytesOf([doubled, ...lines.slice(1)]));
    expect(problems[0]).toMatchObject({ code: 'repeated_member', line: 1, message: 'line 1 has the member mode twice' });
  });

  it('finds a changed receipt although its own hash was made again', async () => {
    const receipt = JSON.parse(lines[2] ?? '');
    const other = JSON.parse((await home.lines({ from: 3, to: 3 }))[0] ?? '');
    const forged = (lines[2] ?? '').replace(receipt.seal.hash, other.seal.hash);
    expect(codes(await verify(bytesOf(lines.with(2, forged))))).toEqual(expect.arrayContaining(['changed', 'broken_link']));
  });

  it('finds upper-case digits in a signature', async () => {
    const shouting = (lines[1] ?? '').replace(/"signature":"([0-9a-f]+)"/, (_, hex: string) => `"signature":"${hex.toUpperCase()}"`);
    expect(codes(await verify(bytesOf(lines.with(1, shouting))))).toContain('unknown_line');
  });

  it('finds a cut tail with a head, and says that it cannot know without one', async () => {
    const cut = lines.slice(0, 13);
    expect(await verify(bytesOf(cut))).toMatchObject({ ok: true, verdict: 'complete up to 7, tail unknown' });
    const found = await verify(bytesOf(cut), { head: lastHead() });
    expect(found).toMatchObject({ ok: false, problems: [{ code: 'cut' }] });
    expect(found.verdict).toBe('one problem: the tail is cut: the given head is at entry 9, the last entry here is 7');
    expect(codes(await verify(bytesOf(lines.slice(0, -1))))).toEqual(['cut']);
    expect((await verify(Buffer.alloc(0))).ok).toBe(false);
  });

  it('finds another history than the head knows', async () => {
    const head = { ...lastHead(), hash: 'f'.repeat(64) };
    expect(codes(await verify(bytesOf(lines), { head }))).toEqual(['head_mismatch']);
  });

  it('finds a wrong key', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const other = readPublicKey(publicKey.export({ type: 'spki', format: 'pem' }).toString()) ?? expect.fail();
    const { ok, problems } = await verify(bytesOf(lines), { publicKeys: [other] });
    expect(ok).toBe(false);
    expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['wrong_key']));
  });

  it('is not brought down by what is no export at all', async () => {
    const nested = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    const odd = '{"hash_profile":"abp-content/1","node":"n","run_id":"r","seal":{"hash":"","key_id":"k","previous":"","sequence":1}}';
    for (const text of [
      '',
      '\n\n',
      'null\n',
      '[]\n',
      '{}\n',
      '{"kind":"head"}\n',
      `${nested}\n`,
      `${odd}\n`,
      '\ufeff{}\n',
      '{"a":"\\ud800"}\n',
    ]) {
      expect((await verify(Buffer.from(text))).ok).toBe(false);
    }
    expect((await verify(Buffer.from([0xff, 0xfe, 10]))).problems[0]?.message).toBe('line 1 is not UTF-8');
  });
});
