import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { sha256 } from '../../src/base/canonical-json.ts';
import { Config } from '../../src/gateway/config.ts';
import { bucketOf } from '../../src/gateway/recording.ts';
import { openHome } from '../../src/home/home.ts';
import { Retention } from '../../src/receipts/bodies/retention.ts';
import { type BucketState, Uploads } from '../../src/receipts/bodies/uploads.ts';
import { openStore } from '../../src/store/database.ts';
import { BodyShelf } from '../../src/store/recordings/body-shelf.ts';
import { type BucketServer, startBucketServer } from '../support/bucket-server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, type WireAnswer } from '../support/http-call.ts';
import { readyDatabase } from '../support/postgres.ts';
import { receiptOf } from '../support/receipt-of.ts';

// Against a server that speaks S3 and checks signatures.

const WRONG = 'wrong-secret-0815-4711';
const WAIT = { timeout: 60_000, interval: 50 };

let bucket: BucketServer;
let folder: string;

beforeAll(async () => {
  bucket = await startBucketServer();
  folder = mkdtempSync(join(tmpdir(), 'abp-bucket-homes-'));
});
afterAll(async () => {
  await bucket.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (word: string): string =>
  JSON.stringify({ model: 'sim-1', max_tokens: 9, messages: [{ role: 'user', content: `say "${word}"` }] });

async function made({ url }: TestGateway, word: string): Promise<WireAnswer> {
  const run = await post(`${url}/e/sim/v1/messages`, ask(word));
  await receiptOf(url, run.headers['x-abp-run-id']);
  return run;
}

const bodyAt = ({ url }: TestGateway, run: WireAnswer, which: string): Promise<WireAnswer> =>
  call(`${url}/v1/receipts/${run.headers['x-abp-run-id']}/${which}`);
const ready = async ({ url }: TestGateway): Promise<unknown> => JSON.parse((await call(`${url}/readyz`)).body.toString());
/** Objects that were written since then. */
const since = (before: readonly string[]): string[] => bucket.objects().filter((name) => !before.includes(name));

it('bodies that one node recorded are read through another, and erasing them empties the bucket', { timeout: 120_000 }, async () => {
  const databaseUrl = await readyDatabase();
  const config = { recording: { store: bucket.store } };
  const [one, other] = await Promise.all([startGateway({ databaseUrl, config }), startGateway({ databaseUrl, config })]);
  onTestFinished(async () => {
    await Promise.all([one.close(), other.close()]);
  });
  const before = bucket.objects();
  const run = await made(one, 'from far away');
  await vi.waitFor(() => expect(since(before)).toHaveLength(2), WAIT);
  expect(since(before).every((name) => name.startsWith('abp/') && name.endsWith(`${one.gateway.home.nodeId}.zst`))).toBe(true);
  expect((await bodyAt(other, run, 'request')).body.toString()).toBe(ask('from far away'));
  expect((await bodyAt(other, run, 'response')).body.equals(run.body)).toBe(true);
  const line = await call(`${other.url}/v1/recordings/${run.headers['x-abp-run-id']}`);
  expect(line.body.toString()).toContain('from far away');
  const replayed = await post(`${other.url}/v1/receipts/${run.headers['x-abp-run-id']}/replay`, { engine: 'sim' });
  expect(replayed.status).toBeLessThan(300);
  await vi.waitFor(() => expect(since(before).length).toBeGreaterThan(2), WAIT);

  // The node that has them erases them, and the one that was asked says so once it is done.
  expect((await call(`${other.url}/v1/receipts/${run.headers['x-abp-run-id']}/bodies`, { method: 'DELETE' })).status).toBe(204);
  await vi.waitFor(() => expect(since(before).filter((name) => name.includes(one.gateway.home.nodeId))).toEqual([]), WAIT);
  expect((await bodyAt(other, run, 'request')).status).toBe(404);
  expect(await ready(one)).toMatchObject({ status: 'ready', bucket: 'ok' });
  expect(one.faults() + other.faults()).toBe('');
});

it('while the bucket is away bodies stay on the disk, also over a restart, and reach it when it is back', {
  timeout: 180_000,
}, async () => {
  const home = join(folder, 'waiting');
  const config = { recording: { store: bucket.store } };
  const before = bucket.objects();
  await bucket.stop();
  const first = await startGateway({ home, config });
  const run = await made(first, 'patient');
  await vi.waitFor(async () => expect(await ready(first)).toMatchObject({ status: 'degraded', bucket: 'away' }), WAIT);
  expect((await call(`${first.url}/metrics`)).body.toString().split('\n')).toEqual(
    expect.arrayContaining(['abp_bucket_ok 0', 'abp_bucket_waiting 1']),
  );
  expect(first.faults()).toContain('bodies stay on the disk until the bucket takes them');
  expect((await bodyAt(first, run, 'request')).body.toString()).toBe(ask('patient'));
  await first.close();

  const second = await startGateway({ home, config });
  onTestFinished(() => second.close());
  await vi.waitFor(async () => expect(await ready(second)).toMatchObject({ bucket: 'away' }), WAIT);
  expect(bucket.objects()).toEqual(before);
  await bucket.start();
  await vi.waitFor(async () => expect(await ready(second)).toMatchObject({ status: 'ready', bucket: 'ok' }), WAIT);
  expect(since(before)).toHaveLength(2);
  expect(second.faults()).toContain('the bucket takes bodies again');
});

it('a wrong key of the bucket is said in its own word, and the secret nowhere', { timeout: 120_000 }, async () => {
  const server = await startGateway({ config: { recording: { store: { ...bucket.store, secret_key: WRONG } } } });
  onTestFinished(() => server.close());
  const before = bucket.objects();
  const run = await made(server, `a secret ${WRONG}`);
  await vi.waitFor(() => expect(server.faults()).toContain('SignatureDoesNotMatch'), WAIT);
  expect(server.logs()).not.toContain(WRONG);
  expect((await bodyAt(server, run, 'request')).body.toString()).toContain('[redacted]');
  expect(bucket.objects()).toEqual(before);
});

it('the disk makes room without losing what the bucket has, and the bucket loses what has expired', { timeout: 120_000 }, async () => {
  const home = openHome({ path: join(folder, 'room') });
  const store = await openStore({ home });
  const config = Config.parse({ recording: { store: bucket.store } });
  const inBucket = bucketOf(config, home.nodeId)!;
  const shelf = new BodyShelf(home.bodiesFolder, undefined, inBucket);
  onTestFinished(async () => {
    shelf.close();
    await store.close();
  });
  const before = bucket.objects();
  const states: BucketState[] = [];
  const uploads = new Uploads({ shelf, bucket: inBucket, onState: (state) => states.push(state) });
  const lost: string[] = [];
  const options = { store, shelf, node: home.nodeId, keepMs: 3_600_000, bucket: true, onLost: (message: string) => lost.push(message) };
  const bodies = ['first', 'second'].map((text) => Buffer.from(`${text} ${'x'.repeat(5000)}`));
  const digests = bodies.map((body) => ({ sha256: sha256(body), bytes: body.length }));
  shelf.add(new Map(bodies.map((body, at) => [digests[at]!.sha256, body])));
  uploads.look();
  await vi.waitFor(() => expect(states.at(-1)).toEqual({ waiting: 0 }), WAIT);
  expect(since(before)).toHaveLength(2);

  await new Retention({ ...options, maxBytes: 1 }).look([]);
  expect([shelf.blocks().size, lost]).toEqual([0, []]);
  expect(await Promise.all(digests.map((digest) => shelf.read(digest)))).toEqual(bodies);
  // Recorded again, it is in the bucket already.
  expect(shelf.add(new Map([[digests[0]!.sha256, bodies[0]!]]))).toBeUndefined();
  const stranger = new BodyShelf(join(folder, 'stranger'), undefined, bucketOf(wrongly(config), 'node_other'));
  await expect(stranger.read(digests[0]!)).rejects.toThrow(/cannot be used: it answered 403 SignatureDoesNotMatch/);
  stranger.close();

  await new Retention({ ...options, maxBytes: 1e9 }).look([], Date.now() + 3_600_001);
  uploads.expect();
  await vi.waitFor(() => {
    uploads.look();
    expect(since(before)).toEqual([]);
  }, WAIT);
  expect(await shelf.read(digests[0]!)).toBeUndefined();

  // Only what the bucket has not got is lost when there is no room, and that is said.
  shelf.add(new Map([['a'.repeat(64), Buffer.from('too much')]]));
  await new Retention({ ...options, maxBytes: 1 }).look([]);
  expect([shelf.blocks().size, lost]).toEqual([0, [expect.stringContaining('before they had reached the bucket')]]);
  await uploads.stop();
});

function wrongly({ recording: { store: place, ...recording }, ...config }: Config): Config {
  return { ...config, recording: { ...recording, store: { ...place!, secret_key: WRONG } } };
}
