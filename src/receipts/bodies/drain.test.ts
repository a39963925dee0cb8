import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../base/canonical-json.ts';
import { redactor } from '../../base/redact.ts';
import { newRunId, type RunId } from '../../contract/run-id.ts';
import { type Home, openHome } from '../../home/home.ts';
import { openStore } from '../../store/database.ts';
import { BodyFiles } from '../../store/recordings/body-files.ts';
import { BodyShelf } from '../../store/recordings/body-shelf.ts';
import { chunksOf } from '../../store/recordings/recording-line.ts';
import { getRecording } from '../../store/recordings/recordings.ts';
import type { Store } from '../../store/store.ts';
import type { BodiesAside } from './bodies-aside.ts';
import { BodyDrain } from './drain.ts';
import { BodyJournal } from './journal.ts';
import type { BeginMeta, EndMeta } from './record.ts';
import { Retention } from './retention.ts';

let folder: string;
let home: Home;
let store: Store;
let shelf: BodyShelf;
let faults: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'abp-bodies-'));
  home = openHome({ path: join(folder, 'home') });
  store = await openStore({ home });
  shelf = new BodyShelf(home.bodiesFolder);
  faults = [];
});
afterEach(async () => {
  shelf.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const journalOf = (mostWaiting?: number): BodyJournal =>
  new BodyJournal({
    folder: home.journalFolder,
    onFault: (message) => faults.push(message),
    ...(mostWaiting === undefined ? {} : { mostWaiting }),
  });
const drainOf = (): BodyDrain =>
  new BodyDrain({
    store,
    shelf,
    journalFolder: home.journalFolder,
    node: home.nodeId,
    redactor: redactor(),
    onFault: (message) => faults.push(message),
  });
const segments = (): string[] => readdirSync(home.journalFolder).filter((name) => name.includes('.bodies'));

function begin(request: string, sent: string | null = null): BeginMeta {
  const meta = (body: string): BeginMeta['request'] => ({
    dialect: 'claude',
    method: 'POST',
    path: '/v1/messages',
    headers: ['content-type', 'application/json'],
    sha256: sha256(body),
    bytes: Buffer.byteLength(body),
  });
  return {
    startedAt: 1_800_000_000_000,
    keyId: null,
    tags: ['blue'],
    engine: 'sim',
    model: 'sim-1',
    request: meta(request),
    sent: sent === null ? null : meta(sent),
  };
}

const endOf = (bytes: Buffer): EndMeta => ({ complete: true, cut: false, sha256: sha256(bytes), bytes: bytes.length });

/** Records one run whose answer comes in these pieces. */
function play(journal: BodyJournal, pieces: readonly Buffer[], request = '{}', flushed = false): RunId {
  const run = newRunId();
  const tape = journal.tape(run, performance.now())!;
  tape.begin(begin(request), { request: Buffer.from(request), sent: null });
  tape.engine.head(200, ['content-type', 'text/event-stream']);
  for (const piece of pieces) {
    tape.engine.chunk(piece);
    if (flushed) tape.flush();
  }
  tape.end(endOf(Buffer.concat(pieces)));
  return run;
}

async function answerOf(run: RunId): Promise<Buffer[]> {
  const recording = await getRecording(store, run);
  const chunks = await chunksOf(shelf, recording!.response!);
  return chunks!.map(({ bytes }) => Buffer.from(bytes));
}

describe('what is recorded', () => {
  it('comes back in the same pieces, however it was cut and flushed', async () => {
    const journal = journalOf();
    const drain = drainOf();
    await drain.settlePast();
    const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(pieces, fc.string({ unit: 'binary' }), fc.boolean(), async (given, request, flushed) => {
        const chunks = given.map((bytes) => Buffer.from(bytes));
        const run = play(journal, chunks, request.toWellFormed(), flushed);
        await drain.all();
        expect(drain.replayable(run)).toBe(true);
        expect(await answerOf(run)).toEqual(chunks);
        const { request: stored } = (await getRecording(store, run))!;
        expect(String(await shelf.read(stored.body))).toBe(request.toWellFormed());
      }),
      { numRuns: 40 },
    );
    journal.close();
    expect(faults).toEqual([]);
  });

  it('of many runs at once, with more chunks than a row holds, is stored once per body', async () => {
    const journal = journalOf();
    const drain = drainOf();
    await drain.settlePast();
    const many = Array.from({ length: 900 }, (_, at) => Buffer.from(`data: ${at}\n\n`));
    journal.gather();
    const runs = Array.from({ length: 50 }, () => play(journal, many));
    journal.flush();
    await drain.all();
    for (const run of runs) expect(Buffer.concat(await answerOf(run)).equals(Buffer.concat(many))).toBe(true);
    expect((await answerOf(runs[7]!)).length).toBe(900);
    const stored = [...shelf.blocks().keys()].flatMap((block) => shelf.bodiesIn(block));
    expect(stored.filter(({ bytes }) => bytes === Buffer.concat(many).length)).toHaveLength(1);
    journal.close();
  });

  it('of large bodies that were written before their run began is the same, among records of others', async () => {
    const journal = journalOf();
    const drain = drainOf();
    await drain.settlePast();
    const [request, sent] = [`{"x":"${'y'.repeat(3_000_000)}"}`, `{"z":"${'ü'.repeat(900_000)}"}`];
    const bodies = { request: Buffer.from(request), sent: Buffer.from(sent) };
    const other = (): RunId => play(journal, [Buffer.from('other')]);
    const whole = async (given: typeof bodies & { aside?: BodiesAside | undefined }): Promise<RunId> => {
      const run = newRunId();
      const tape = journal.tape(run, performance.now())!;
      tape.begin(begin(request, given.sent.toString()), given);
      tape.engine.head(200, []);
      tape.engine.chunk(Buffer.from('answer'));
      other();
      tape.end(endOf(Buffer.from('answer')));
      return run;
    };
    journal.gather();
    other();
    const expected = await whole({ ...bodies, aside: await journal.putAside([bodies.request, bodies.sent]) });
    other();
    journal.flush();
    // Another engine than the first one gets the request after all, or none.
    const elsewhere = { ...bodies, sent: Buffer.from('{"short":1}') };
    const changed = await whole({ ...elsewhere, aside: await journal.putAside([bodies.request, bodies.sent]) });
    await drain.all();
    const dropped = await journal.putAside([bodies.request]);
    dropped?.drop();
    journal.close();
    await drain.all();
    for (const [run, to] of [
      [expected, sent],
      [changed, '{"short":1}'],
    ] as const) {
      const recording = (await getRecording(store, run))!;
      expect(String(await shelf.read(recording.request.body)) === request).toBe(true);
      expect(String(await shelf.read(recording.sent!.body)) === to).toBe(true);
      expect(recording.replayable).toBe(true);
    }
    expect(await store.db.selectFrom('recordings').selectAll().execute()).toHaveLength(6);
    expect(segments()).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('of a body that is larger than a window and a segment is whole', async () => {
    const journal = journalOf();
    const drain = drainOf();
    await drain.settlePast();
    const large = Array.from({ length: 20 }, (_, at) => Buffer.alloc(1024 * 1024, at));
    const run = play(journal, large, `{"x":"${'y'.repeat(3_000_000)}"}`);
    journal.close();
    await drain.all();
    expect(Buffer.concat(await answerOf(run)).equals(Buffer.concat(large))).toBe(true);
    expect(segments()).toEqual([]);
  });
});

describe('a process that was killed', () => {
  it('leaves what it had flushed, as an answer that did not end', async () => {
    const journal = journalOf();
    const [run, ended] = [newRunId(), play(journal, [Buffer.from('whole')])];
    const tape = journal.tape(run, performance.now())!;
    tape.begin(begin('{"a":1}'), { request: Buffer.from('{"a":1}'), sent: null });
    tape.engine.head(200, []);
    tape.engine.chunk(Buffer.from('first '));
    tape.flush();
    tape.engine.chunk(Buffer.from('never written'));
    // No close: the next process finds the segment open. Its last record is torn.
    const [open] = segments();
    appendFileSync(join(home.journalFolder, open!), Buffer.from([0x41, 0x50, 0x42, 0x5b, 2]));
    const next = journalOf();
    const drain = drainOf();
    await drain.settlePast();
    expect(await answerOf(run)).toEqual([Buffer.from('first ')]);
    expect(await getRecording(store, run)).toMatchObject({ replayable: false, response: { complete: false, body: { bytes: 6 } } });
    expect(await getRecording(store, ended)).toMatchObject({ replayable: true });
    expect(segments()).toEqual([]);
    next.close();
    expect(faults).toEqual([]);
  });

  it('while it wrote large bodies of a run that had not begun leaves nothing of them', async () => {
    await journalOf().putAside([Buffer.alloc(3_000_000)]);
    expect(segments()).toHaveLength(1);
    const next = journalOf();
    await drainOf().settlePast();
    expect(segments()).toEqual([]);
    next.close();
  });

  it('after storing and before deleting is not stored again, and its verdict is known', async () => {
    const journal = journalOf();
    const run = play(journal, [Buffer.from('x')]);
    const first = drainOf();
    await first.all();
    const rows = async (): Promise<number> => (await store.db.selectFrom('recordings').selectAll().execute()).length;
    expect(await rows()).toBe(1);
    expect(segments()).toHaveLength(1);
    journalOf().close();
    const second = drainOf();
    await second.settlePast();
    expect(second.replayable(run)).toBe(true);
    expect(await rows()).toBe(1);
    expect(segments()).toEqual([]);
  });
});

describe('what cannot be kept', () => {
  it('does not hold up the runs, and says so once', () => {
    const journal = journalOf(0);
    const run = play(journal, [Buffer.alloc(17 * 1024 * 1024)]);
    expect(run).toMatch(/^run_/);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain('wait for the store');
    expect(journal.tape(newRunId(), performance.now())).toBeUndefined();
    journal.close();
  });

  it('because its folder is gone is a fault, not an exception', () => {
    const journal = journalOf();
    rmSync(home.journalFolder, { recursive: true });
    play(journal, [Buffer.from('x')]);
    expect(faults[0]).toContain('bodies cannot be recorded');
    expect(faults).toHaveLength(1);
    journal.close();
  });

  it('an answer that lost a part is not called complete', async () => {
    const journal = journalOf();
    const drain = drainOf();
    await drain.settlePast();
    const run = newRunId();
    const tape = journal.tape(run, performance.now())!;
    tape.begin(begin('{}'), { request: Buffer.from('{}'), sent: null });
    tape.engine.head(200, []);
    tape.engine.chunk(Buffer.from('part'));
    tape.end({ complete: true, cut: false, sha256: sha256('the whole'), bytes: 9 });
    await drain.all();
    expect(drain.replayable(run)).toBe(false);
    expect(await getRecording(store, run)).toMatchObject({ response: { complete: false, body: { sha256: sha256('part'), bytes: 4 } } });
    journal.close();
  });
});

describe('what is kept', () => {
  const noise = (length: number): Buffer => Buffer.from(crypto.getRandomValues(new Uint8Array(length)));

  it('stays below its size: the oldest goes first', async () => {
    const journal = journalOf();
    const drain = drainOf();
    await drain.settlePast();
    const retention = new Retention({ store, shelf, node: home.nodeId, keepMs: 1e9, maxBytes: 300_000 });
    const runs: RunId[] = [];
    for (let at = 0; at < 5; at += 1) {
      runs.push(play(journal, [noise(60_000), noise(40_000)], `{"at":${at}}`));
      await retention.look(await drain.all());
    }
    const left = await Promise.all(runs.map(async (run) => (await getRecording(store, run)) !== undefined));
    expect(left).toEqual([false, false, false, true, true]);
    expect([...shelf.blocks().values()].reduce((sum, size) => sum + size, 0)).toBeLessThan(300_000);
    journal.close();
  });

  it('goes when it is too old, and what nobody speaks of goes too', async () => {
    const journal = journalOf();
    const drain = drainOf();
    await drain.settlePast();
    const run = play(journal, [Buffer.from('old')]);
    const blocks = await drain.all();
    new BodyFiles(home.bodiesFolder).write([Buffer.from('orphan')]);
    const retention = new Retention({ store, shelf, node: home.nodeId, keepMs: 1000 * 3600, maxBytes: 1e9 });
    await retention.look(blocks);
    expect(shelf.blocks().size).toBe(2);
    await retention.look([], Date.now() + 120_000);
    expect([...shelf.blocks().keys()]).toEqual(blocks);
    await retention.look([], Date.now() + 1000 * 3601);
    expect(shelf.blocks().size).toBe(0);
    expect(await getRecording(store, run)).toBeUndefined();
    journal.close();
  });
});
