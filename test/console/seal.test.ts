import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkSeal, type Proof } from '../../console/src/base/seal/check.ts';
import { makeRuns } from '../support/console.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let server: TestGateway;
let run: string;
let receipt: object;
let proof: Proof;

const read = async <T>(path: string): Promise<T> => (await (await fetch(`${server.url}${path}`)).json()) as T;

beforeAll(async () => {
  server = await startGateway();
  await makeRuns(server, 2);
  const { items } = await read<{ items: { run_id: string }[] }>('/v1/runs?view=row&limit=3');
  run = items[2]?.run_id ?? '';
  receipt = await read(`/v1/receipts/${run}`);
  const { before, lines, keys } = await read<Proof & { readonly before: string | null }>(`/v1/receipts/${run}/proof`);
  proof = { lines: before === null ? lines : [before, ...lines], keys };
});
afterAll(() => server.close());

/** The proof with one of its lines rewritten. */
function changed(which: (line: Record<string, unknown>) => boolean, rewrite: (text: string) => string): Proof {
  return { ...proof, lines: proof.lines.map((text) => (which(JSON.parse(text)) ? rewrite(text) : text)) };
}

const isOwn = (line: Record<string, unknown>): boolean => line.run_id === run;
const isHead = (line: Record<string, unknown>): boolean => line.kind === 'head';
const isOther = (line: Record<string, unknown>): boolean => !isOwn(line) && !isHead(line);

/** An entry as somebody who may not read it sees it, under another hash. */
function falseLink(text: string): string {
  const { seal, sequence = seal.sequence } = JSON.parse(text);
  return `{"hash":"${'0'.repeat(64)}","kind":"link","sequence":${sequence}}`;
}
const flip = (text: string, member: string): string =>
  text.replace(new RegExp(`"${member}":"([0-9a-f])`), (whole, digit) => `${whole.slice(0, -1)}${digit === '0' ? '1' : '0'}`);

it('a receipt as it was sealed verifies', async () => {
  expect(await checkSeal(run, receipt, proof)).toMatchObject({ verdict: 'valid', code: null, held: 3 });
});

it('the proof tells nothing of the receipts of others but places and hashes', () => {
  const others = proof.lines.map((text) => JSON.parse(text)).filter((line) => !isOwn(line) && !isHead(line));
  expect(others.length).toBeGreaterThan(0);
  for (const line of others) if (line.kind === 'link') expect(Object.keys(line).sort()).toEqual(['hash', 'kind', 'sequence']);
});

it('what the page shows must be what was sealed', async () => {
  expect(await checkSeal(run, { ...receipt, task: 'something else' }, proof)).toMatchObject({
    verdict: 'invalid',
    code: 'changed',
    held: 0,
  });
});

it.each<[string, () => Proof, string]>([
  ['a changed receipt', () => changed(isOwn, (text) => text.replace('"completed"', '"cancelled"')), 'changed'],
  ['a changed place', () => changed(isOwn, (text) => flip(text, 'previous')), 'changed'],
  ['another entry before it', () => changed(isOther, falseLink), 'broken_link'],
  ['a missing entry', () => ({ ...proof, lines: proof.lines.filter((text) => !isOwn(JSON.parse(text))) }), 'missing'],
  ['a head that names another hash', () => changed(isHead, (text) => flip(text, 'hash')), 'broken_link'],
  ['a forged signature', () => changed(isHead, (text) => flip(text, 'signature')), 'bad_signature'],
  ['a head of another time', () => changed(isHead, (text) => text.replace(/"at":"20\d\d/, '"at":"2001')), 'bad_signature'],
  ['no head', () => ({ ...proof, lines: proof.lines.filter((text) => !isHead(JSON.parse(text))) }), 'no_head'],
  ['a key that is not published', () => ({ ...proof, keys: [] }), 'unknown_key'],
  [
    'a key under a false name',
    () => ({ ...proof, keys: proof.keys.map((key) => ({ ...key, public_key: key.public_key.replace(/^../, '00') })) }),
    'unknown_key',
  ],
  ['other spacing', () => changed(isHead, (text) => text.replace(',', ', ')), 'not_canonical'],
])('%s does not verify', async (_, tampered, code) => {
  const shown =
    tampered()
      .lines.map((text) => JSON.parse(text))
      .find(isOwn) ?? receipt;
  expect(await checkSeal(run, shown, tampered())).toMatchObject({ verdict: 'invalid', code });
});
