import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkSeal, checkTail, type Proof } from '../../console/src/base/seal/check.ts';
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
  [
    'upper-case digits in a signature',
    () => changed(isHead, (text) => text.replace(/"signature":"[0-9a-f]+/, (found) => `"signature":"${found.slice(13).toUpperCase()}`)),
    'bad_signature',
  ],
  ['a line that is no JSON', () => changed(isHead, (text) => text.slice(0, -1)), 'not_canonical'],
  [
    'a missing entry before it',
    () => ({
      ...proof,
      lines: proof.lines.filter(
        (text) =>
          !isOther(JSON.parse(text)) ||
          Number(JSON.parse(text).sequence ?? JSON.parse(text).seal?.sequence) > JSON.parse(JSON.stringify(receipt)).seal.sequence,
      ),
    }),
    'missing',
  ],
  ['other spacing', () => changed(isHead, (text) => text.replace(',', ', ')), 'not_canonical'],
])('%s does not verify', async (_, tampered, code) => {
  // A forger changes what the page shows together with the proof.
  const own = tampered().lines.find((text) => text.includes(`"run_id":"${run}"`));
  expect(await checkSeal(run, own === undefined ? receipt : JSON.parse(own), tampered())).toMatchObject({ verdict: 'invalid', code });
});

/** Each line with one of its bytes changed; every so many, because a proof has thousands of them. */
function* mutations(step: number): Generator<Proof> {
  for (const [at, line] of proof.lines.entries()) {
    for (let place = 0; place < line.length; place += step) {
      const other = line[place] === '0' ? '1' : '0';
      yield { ...proof, lines: proof.lines.toSpliced(at, 1, line.slice(0, place) + other + line.slice(place + 1)) };
    }
  }
}

it('no byte of a proof can be changed, and no line left out, doubled or moved', async () => {
  const [first = '', ...rest] = proof.lines;
  const moved = [...mutations(13), ...proof.lines.map((_, at) => ({ ...proof, lines: proof.lines.toSpliced(at, 1) }))];
  // The same head twice says nothing else than once.
  const entries = proof.lines.filter((text) => !isHead(JSON.parse(text)));
  const doubled = entries.map((line, at) => ({ ...proof, lines: proof.lines.toSpliced(at, 0, line) }));
  for (const tampered of [...moved, ...doubled, { ...proof, lines: [...rest, first] }]) {
    const report = await checkSeal(run, receipt, tampered);
    expect(report.verdict, JSON.stringify(tampered.lines)).toBe('invalid');
  }
});

it('a head that was seen before shows that the chain was cut or made anew', async () => {
  const head = JSON.parse(proof.lines.find((text) => isHead(JSON.parse(text))) ?? '{}');
  const seen = { sequence: head.sequence, hash: head.hash, keyId: head.key_id, at: head.at };
  const heads = { newest: head, atKept: head };
  expect(await checkTail(heads, proof.keys, seen)).toMatchObject({ code: null });
  expect(await checkTail(heads, proof.keys, { ...seen, sequence: head.sequence - 1 })).toMatchObject({ code: 'broken_link' });
  expect(await checkTail(heads, proof.keys, { ...seen, sequence: head.sequence + 1 })).toMatchObject({ code: 'cut' });
  expect(await checkTail(heads, proof.keys, { ...seen, hash: '0'.repeat(64) })).toMatchObject({ code: 'broken_link' });
  expect(await checkTail({ ...heads, newest: { ...head, count: 0 } }, proof.keys, seen)).toMatchObject({ code: 'bad_signature' });
  expect(await checkTail({ ...heads, atKept: { ...head, count: 0 } }, proof.keys, seen)).toMatchObject({ code: 'bad_signature' });
});
