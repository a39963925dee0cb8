import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { main } from '../../src/cli/main.ts';
import type { Receipt } from '../../src/contract/receipts/receipt.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import type { RunRow } from '../../src/gateway/api/run-rows.ts';
import { factLine } from '../../src/receipts/journal/fact-line.ts';
import { captureIo } from '../support/capture-io.ts';
import { closeFact, openFact } from '../support/facts.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

const parent = mkdtempSync(join(tmpdir(), 'abp-receipt-command-'));
const home = join(parent, 'home');
const file = (name: string): string => join(parent, name);
let server: TestGateway;
let receipts: Receipt[];

async function abp(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = captureIo();
  const code = await main(['receipts', ...argv, '--home', home], io);
  return { code, out: io.out(), err: io.err() };
}

const json = async (...argv: string[]) => JSON.parse((await abp(...argv, '--json')).out);

beforeAll(async () => {
  server = await startGateway({ home });
  receipts = [];
  for (const content of ['say "one"', 'say "one"', 'say "two"', 'fail with 429']) {
    const body = JSON.stringify({ model: 'sim-1', max_tokens: 50, messages: [{ role: 'user', content }] });
    receipts.push(await receiptOf(server.url, (await post(`${server.url}/e/sim/v1/messages`, body)).headers['x-abp-run-id']));
  }
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const run = (at: number): string => receipts[at]?.run_id ?? '';

/** The same answers with a server and without one. */
function reading(): void {
  it('lists receipts newest first, by what they are, in pages', async () => {
    const { items } = await json('list');
    expect(items.map((item: Receipt) => item.run_id)).toEqual([3, 2, 1, 0].map(run));
    expect((await json('list', '--status', 'failed', '--engine', 'sim', '--plane', 'gateway')).items).toHaveLength(1);
    expect((await json('list', '--until', '2020-01-01')).items).toEqual([]);
    const first = await json('list', '--limit', '3');
    const rest = await json('list', '--limit', '3', '--cursor', first.next_cursor);
    expect(rest.items.map((item: Receipt) => item.run_id)).toEqual([run(0)]);
    const { out } = await abp('list');
    expect(out).toContain('Run ');
    expect(out.split('\n').filter((line) => line.startsWith('run_'))).toHaveLength(4);
  });

  it('shows in a list what people look for, and leaves out columns that say nothing', async () => {
    const [head = '', failed = ''] = (await abp('list')).out.split('\n');
    expect(head.split(/ {2,}/)).toEqual(['Run', 'Started', 'Took', 'Status', 'Engine', 'Model', 'Tokens', 'Cost', 'Error']);
    expect(failed).toMatch(/ (?:s|min) ago .* failed .*engine_failed: sim was asked to fail with 429/);
  });

  it.each([
    [['--failed'], [3]],
    [['--text', 'asked to FAIL'], [3]],
    [
      ['--text', 'sim-1', '--limit', '2'],
      [3, 2],
    ],
    [
      ['--model', 'sim-1', '--engine', 'sim'],
      [3, 2, 1, 0],
    ],
    [['--min-cost', '0.5'], []],
    [['--parent', `run_${'0'.repeat(31)}1`], []],
    [['--sort', 'tokens', '--limit', '1', '--failed'], [3]],
  ])('lists %j, as receipts and as lines', async (options, wanted) => {
    for (const more of [[], ['--slim']]) {
      const { items } = await json('list', ...options, ...more);
      expect(items.map((item: Receipt) => item.run_id)).toEqual(wanted.map(run));
    }
  });

  it('counts, and sorts by what no index has', async () => {
    expect(await json('list', '--limit', '1', '--count')).toMatchObject({ total: 4, total_is: 'exact' });
    expect(await json('list', '--count', '--text', 'sim-1', '--limit', '1')).toMatchObject({ total: 4, total_is: 'exact' });
    expect((await abp('list', '--limit', '1', '--count')).out).toContain('1 of 4');
    const { items } = await json('list', '--slim', '--sort', 'duration');
    const times = items.map((item: RunRow) => item.total_ms ?? -1);
    expect(times).toEqual([...times].sort((a, b) => b - a));
    const { code, err } = await abp('list', '--sort', 'cost', '--cursor', 'x');
    expect([code, err]).toEqual([2, expect.stringContaining('one page and takes no cursor')]);
  });

  it('finds calls by the name of their key, and says when no key has it', async () => {
    expect(await abp('list', '--key', 'nobody')).toMatchObject({
      code: 3,
      err: 'abp: There is no key with the name "nobody".\nhint: abp keys list shows the keys that are live, with their ids.\n',
    });
  });

  it('shows one as a page and as it is', async () => {
    const { out, code } = await abp('show', run(3));
    expect(code).toBe(0);
    expect(out).toMatch(/^status +failed \(engine_error\)$/m);
    expect(out).toMatch(/^prompt +fail with 429$/m);
    expect(out).toMatch(/^started +\d+ (?:s|min) ago, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/m);
    expect(out).toMatch(/^ {2}ok {2}complete from 4 to 4, tail unknown/m);
    expect(out).toContain('engine_failed: sim was asked to fail with 429');
    expect(out).toContain('in the chain of node_');
    expect(await json('show', run(0))).toEqual(receipts[0]);
    expect((await abp('show', `run_${'0'.repeat(32)}`)).code).toBe(3);
    expect((await abp('show', 'nonsense')).code).toBe(2);
  });

  it('tells two runs that did the same from two that did not', async () => {
    const same = await abp('diff', run(0), run(1));
    expect([same.code, same.out]).toEqual([0, expect.stringContaining('The runs did the same.')]);
    const other = await json('diff', run(0), run(2));
    expect(other.same).toBe(false);
    expect(other.content.map(({ path }: { path: string }) => path)).toContain('request.sha256');
    expect(other.incidental.map(({ path }: { path: string }) => path)).toContain('run_id');
    expect((await abp('diff', run(0), run(3), '--all')).out).toContain('completed → failed');
  });

  it('verifies one, a range and all', async () => {
    expect(await abp('verify', run(1))).toMatchObject({ code: 0, out: expect.stringContaining('ok  complete from 2 to 2, tail unknown') });
    expect(await json('verify', '--from', '2', '--to', '3')).toMatchObject({ ok: true, first: 2, last: 3 });
    expect(await abp('verify', '--all')).toMatchObject({ code: 0, out: expect.stringContaining('complete up to') });
    expect((await abp('verify')).code).toBe(2);
    expect((await abp('verify', run(0), '--all')).code).toBe(2);
  });

  it('tells where the chain ends, and verifies one up to a head from elsewhere', async () => {
    const head = file('outside-head.json');
    writeFileSync(head, (await abp('head', '--json')).out);
    const last = JSON.parse((await abp('export')).out.trimEnd().split('\n').at(-1) ?? '');
    expect(JSON.parse(readFileSync(head, 'utf8'))).toEqual(last);
    const [short = ''] = (await abp('head')).out.split('\n');
    expect(short).toBe(`${last.sequence}:${last.hash}`);
    expect(await json('verify', '--all', '--head', short)).toMatchObject({ ok: true, tail: 'known' });
    expect(await json('verify', run(1), '--head', head)).toMatchObject({ ok: true, first: 2, tail: 'known' });
    expect(await json('verify', '--all', '--head', JSON.stringify(last))).toMatchObject({ ok: true, tail: 'known' });
    expect(await json('verify', run(1), '--head', `3:${'0'.repeat(64)}`)).toMatchObject({
      ok: false,
      problems: [{ code: 'head_mismatch' }],
    });
    expect((await abp('verify', '--to', '2', '--head', head)).code).toBe(2);
  });

  it.each([
    [['list', '--status', 'done'], "abp: --status: 'done' is not one of pending, running, completed, failed, cancelled, archived, deleted"],
    [['list', '--plane', 'astral'], "abp: --plane: 'astral' is not one of gateway, run, agent"],
    [['list', '--limit', '1001'], "abp: --limit: '1001' is not a number from 1 to 1000"],
    [['verify', '--from', '3', '--to', '2'], 'abp: there is nothing from 3 to 2'],
    [['export', '--from', '3', '--to', '2'], 'abp: there is nothing from 3 to 2'],
    [['export', '--output', join(parent, 'none', 'x')], `abp: ${join(parent, 'none', 'x')} cannot be written: ENOENT`],
    [['verify', '--file', join(parent, 'none'), '--public-key', 'x'], `abp: cannot read ${join(parent, 'none')}: it does not exist`],
    [['verify', '--file', parent, '--public-key', 'x'], `abp: cannot read ${parent}: it is a folder, not a file`],
    [['verify', '--all', '--public-key', parent], `abp: '${parent}' is not an Ed25519 public key`],
  ])('refuses %j as a fault of the command line', async (argv, message) => {
    const { code, out, err } = await abp(...argv);
    expect([code, out, err.slice(0, message.length)]).toEqual([2, '', message]);
  });

  it('refuses a list of keys that holds none', async () => {
    writeFileSync(file('no-keys.json'), '{"items":[{"public_key":"zz"}]}');
    expect((await abp('verify', '--all', '--public-key', file('no-keys.json'))).code).toBe(2);
  });

  it('exports to a file that verifies by itself', async () => {
    const exported = file(`export-${Math.random()}.jsonl`);
    expect((await json('export', '--output', exported)).lines).toBeGreaterThan(7);
    await expect(abp('export', '--to', '1')).resolves.toMatchObject({ out: expect.stringMatching(/^\{.*\}\n\{.*"kind":"head".*\}\n$/) });
    writeFileSync(file('keys.json'), (await abp('keys', 'list', '--json')).out);
    const verify = (...more: string[]) => json('verify', '--file', exported, '--public-key', file('keys.json'), ...more);
    const found = await verify();
    expect(found).toMatchObject({ ok: true, receipts: 4 });
    const last = JSON.parse(readFileSync(exported, 'utf8').trimEnd().split('\n').at(-1) ?? '');
    writeFileSync(file('head.json'), JSON.stringify(last));
    expect(await verify('--head', file('head.json'))).toMatchObject({ ok: true, tail: 'known' });
    expect(await verify('--head', `${last.sequence + 1}:${'0'.repeat(64)}`)).toMatchObject({ ok: false, problems: [{ code: 'cut' }] });
    expect((await abp('verify', '--file', exported)).code).toBe(2);
    expect((await abp('verify', '--file', exported, '--public-key', '00'.repeat(32))).code).toBe(4);
    writeFileSync(exported, readFileSync(exported, 'utf8').replace('"output_tokens":', '"output_tokens":1'));
    const changed = await abp('verify', '--file', exported, '--public-key', file('keys.json'));
    expect(changed).toMatchObject({ code: 4, out: expect.stringContaining('NOT OK  one problem: entry 1 was changed') });
  });
}

describe('abp receipt with a live server', () => {
  reading();

  it('writes the same bytes to the standard output as to a file, wherever the network cuts them', async () => {
    const other = await startGateway();
    const model = '日'.repeat(500);
    const body = JSON.stringify({ model, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] });
    const runs = await Promise.all(Array.from({ length: 40 }, () => post(`${other.url}/e/sim/v1/messages`, body)));
    for (const one of runs) await receiptOf(other.url, one.headers['x-abp-run-id']);
    const io = captureIo();
    expect(await main(['receipts', 'export', '--home', other.home], io)).toBe(0);
    expect(io.out()).not.toContain('\ufffd');
    expect(await main(['receipts', 'export', '--home', other.home, '--output', file('wide.jsonl')], captureIo())).toBe(0);
    expect(readFileSync(file('wide.jsonl'), 'utf8') === io.out()).toBe(true);
    await other.close();
  });

  it('changes the key', async () => {
    const [{ id }] = (await json('keys')).items;
    const { old_key, new_key } = await json('keys', 'rotate');
    expect(old_key).toBe(id);
    expect((await abp('keys')).out).toContain(new_key);
    expect((await abp('keys', 'rotate', '--lost')).code).toBe(2);
    expect((await abp('keys', 'burn')).code).toBe(2);
  });
});

describe('abp receipt on a home that no server serves', () => {
  beforeAll(() => server.close());
  reading();

  it('changes the key, archives and erases, and the chain still verifies', async () => {
    expect((await abp('keys', 'rotate')).code).toBe(0);
    expect((await abp('archive')).code).toBe(2);
    expect((await abp('erase')).code).toBe(2);
    expect(readdirSync(join(home, 'journal'))).not.toEqual([]);
    expect(await json('archive', '--before', '2100-01-01')).toEqual({ archived: 4 });
    expect(readdirSync(join(home, 'journal'))).toEqual([]);
    expect(await json('erase', '--tag', 'nobody')).toEqual({ erased: 0 });
    expect((await abp('show', run(0))).out).toContain('status   archived');
    expect(await json('verify', '--all')).toMatchObject({ ok: true, receipts: 0, removed: 4 });
  });

  it('erases also what a killed server left in its journal', async () => {
    const [ended, cut] = [newRunId(), newRunId()];
    const facts = [openFact({ run: ended, tags: ['left'] }), closeFact({ run: ended }), openFact({ run: cut, tags: ['left'] })];
    writeFileSync(join(home, 'journal', '1-1-000001.facts'), facts.map((fact) => `${factLine(fact)}\n`).join(''));
    expect(await json('erase', '--tag', 'left')).toEqual({ erased: 2 });
    expect((await abp('show', cut)).out).toContain('status   deleted');
    expect(readdirSync(join(home, 'journal'))).toEqual([]);
    expect(await json('verify', '--all')).toMatchObject({ ok: true, receipts: 0, removed: 6 });
  });

  it('verifies a receipt of another implementation by its own rule', async () => {
    const foreign = file('foreign.json');
    const hash = 'adc4422b1ac3ff33a7835109d8ddb7f612d5debce6787e387dcef502604d9184';
    writeFileSync(foreign, `{"meta":{"run_id":"r"},"b":1.0,"a":[1e+16,"ü",null],"receipt_sha256":"${hash}"}`);
    expect(await abp('verify', '--file', foreign)).toMatchObject({ code: 0, out: expect.stringContaining('its hash is right') });
    expect(existsSync(foreign)).toBe(true);
  });
});

describe('a chain that has sealed nothing yet', () => {
  it('verifies, and an empty file does not', async () => {
    const fresh = await startGateway();
    onTestFinished(() => fresh.close());
    const io = captureIo();
    expect(await main(['receipts', 'verify', '--all', '--home', fresh.home], io)).toBe(0);
    expect(io.out()).toContain('ok  nothing is sealed here yet, tail unknown');
    const empty = file('empty.jsonl');
    writeFileSync(empty, '');
    const refused = captureIo();
    expect(await main(['receipts', 'verify', '--file', empty, '--public-key', 'a'.repeat(64)], refused)).toBe(4);
    expect(refused.out()).toContain('there is no entry');
  });
});
