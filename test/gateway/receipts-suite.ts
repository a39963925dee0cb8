import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Receipt } from '../../src/contract/receipts/receipt.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, send, type WireAnswer } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
const ask = (content: string, more: object = {}): string =>
  JSON.stringify({ model: 'sim-1', max_tokens: 1000, messages: [{ role: 'user', content }], ...more });

/** What the API says of receipts, on whatever database the server has. */
export function receiptsSuite(database: string, databaseUrl: () => Promise<string | undefined>): void {
  describe(`receipts on ${database}`, () => {
    let server: TestGateway;
    let url: string;

    beforeAll(async () => {
      const address = await databaseUrl();
      server = await startGateway(address === undefined ? {} : { databaseUrl: address });
      url = `${server.url}/e/sim/v1/messages`;
    });
    afterAll(() => server.close());

    const of = (answer: WireAnswer): Promise<Receipt> => receiptOf(server.url, answer.headers['x-abp-run-id']);
    const token = (): string[] => ['authorization', `Bearer ${server.token}`];
    const rows = async (): Promise<number> => {
      const { body } = await call(`${server.url}/v1/receipts?limit=1000`, { headers: token() });
      return JSON.parse(body.toString()).items.length;
    };

    it('say what a run did', async () => {
      const request = ask('say "hello there"');
      const answer = await post(url, request);
      const receipt = await of(answer);
      expect(receipt).toMatchObject({
        run_id: answer.headers['x-abp-run-id'],
        contract_version: 'abp/v0.1',
        hash_profile: 'abp-content/2',
        plane: 'gateway',
        status: 'completed',
        reason: null,
        task: 'POST /v1/messages → sim',
        dialect: 'claude',
        engine: 'sim',
        model: { requested: 'sim-1', upstream: 'sim-1' },
        mode: 'passthrough',
        compatibility: 'best_effort',
        negotiation: null,
        emulations: [],
        fidelity: [],
        request: { sha256: sha256(request), bytes: Buffer.byteLength(request) },
        upstream_request: { sha256: sha256(request), bytes: Buffer.byteLength(request) },
        response: { sha256: sha256(answer.body), bytes: answer.body.length, status: 200 },
        event_count: 1,
        backend: { id: 'engine:sim' },
        tool_calls: [],
        enforcement: 'enforced',
        recording: 'full',
        key_id: null,
        error: null,
      });
      const { usage } = JSON.parse(answer.body.toString());
      expect(receipt.usage).toMatchObject({ input_tokens: usage.input_tokens, output_tokens: usage.output_tokens, estimated: false });
      expect(receipt.receipt_sha256).toMatch(/^[0-9a-f]{64}$/);
      const { dispatched_ms, first_byte_ms, last_byte_ms } = receipt.timing;
      expect([dispatched_ms, first_byte_ms, last_byte_ms]).toEqual(
        [dispatched_ms, first_byte_ms, last_byte_ms].toSorted((a, b) => a! - b!),
      );
      expect(receipt.attempts).toEqual([{ engine: 'sim', status: 200, error: null, ms: expect.any(Number) }]);
      expect(Date.parse(receipt.completed_at ?? '') - Date.parse(receipt.started_at)).toBeGreaterThanOrEqual(0);
    });

    it('count the events of a stream, ping included, and know its usage', async () => {
      const answer = await post(url, ask('say "one two three"', { stream: true }));
      const receipt = await of(answer);
      const events = answer.body.toString().match(/^event: /gm) ?? [];
      expect(answer.body.toString()).toContain('event: ping');
      expect(receipt.event_count).toBe(events.length);
      expect(receipt.usage?.output_tokens).toBeGreaterThan(0);
      expect(receipt.response?.sha256).toBe(sha256(answer.body));
    });

    it('know tool calls by name and digest, streamed or not', async () => {
      const tools = [{ name: 'search', input_schema: { type: 'object', properties: { q: { type: 'string' } } } }];
      for (const stream of [false, true]) {
        const receipt = await of(await post(url, ask('call the tool search with {"q":"x"}', { tools, stream })));
        expect(receipt.tool_calls).toEqual([
          { id: expect.stringMatching(/^call_/), name: 'search', arguments_sha256: sha256('{"q":"x"}'), result_sha256: null },
        ]);
      }
    });

    it('have the same hash for two runs that did the same, and another for one that did not', async () => {
      for (const stream of [false, true]) {
        const request = ask('say "the same"', { stream });
        const [first, second] = [await of(await post(url, request)), await of(await post(url, request))];
        expect(first.run_id).not.toBe(second.run_id);
        expect(first.receipt_sha256).toBe(second.receipt_sha256);
        const other = await of(await post(url, ask('say "another"', { stream })));
        expect(other.receipt_sha256).not.toBe(first.receipt_sha256);
      }
    });

    it('are running without a hash until the run ends, and a waiting caller gets the end', async () => {
      const response = await send(url, { method: 'POST', body: ask('wait 150 ms between words and say "a b c d e f"', { stream: true }) });
      const run = response.headers['x-abp-run-id'];
      const early = JSON.parse((await call(`${server.url}/v1/receipts/${run}`)).body.toString());
      expect(early).toMatchObject({ run_id: run, status: 'running' });
      expect(early.receipt_sha256 ?? null).toBeNull();
      const waiting = receiptOf(server.url, run);
      const short = performance.now();
      expect(JSON.parse((await call(`${server.url}/v1/receipts/${run}?wait=0.05`)).body.toString()).status).toBe('running');
      expect(performance.now() - short).toBeGreaterThan(40);
      response.resume();
      expect((await waiting).status).toBe('completed');
    });

    it('are found by UUID too', async () => {
      const { id, run_id } = await of(await post(url, ask('say "x"')));
      expect((await receiptOf(server.url, id)).run_id).toBe(run_id);
      expect((await receiptOf(server.url, id.toUpperCase())).run_id).toBe(run_id);
    });

    it('are written for an error of the engine', async () => {
      const receipt = await of(await post(url, ask('fail with 429')));
      expect(receipt).toMatchObject({
        status: 'failed',
        reason: 'engine_error',
        response: { status: 429 },
        error: { code: 'engine_failed', message: 'sim was asked to fail with 429' },
      });
    });

    it('are written for a refused requirement', async () => {
      const answer = await post(url, ask('hi'), ['X-ABP-Require', 'logprobs=native, streaming']);
      expect(answer.status).toBe(501);
      expect(await of(answer)).toMatchObject({
        status: 'failed',
        reason: 'refused',
        error: { code: 'E006' },
        engine: 'sim',
        negotiation: { result: { native: ['streaming'], unsupported: ['logprobs'] }, unmet: [{ capability: 'logprobs' }] },
        response: null,
        attempts: [],
        event_count: 0,
      });
    });

    it('are written for a strict caller that meets a level below native', async () => {
      const strict = ['X-ABP-Compatibility', 'strict', 'X-ABP-Require', 'vision'];
      const answer = await post(url, ask('hi'), strict);
      expect(JSON.parse(answer.body.toString()).error).toMatchObject({ code: 'E006', details: { cause: 'REQUIRES_NATIVE' } });
      expect(await of(answer)).toMatchObject({ status: 'failed', compatibility: 'strict', error: { code: 'E006' } });
      expect((await of(await post(url, ask('hi'), ['X-ABP-Require', 'vision']))).status).toBe('completed');
    });

    it('are not written for what is malformed, which still gets a run id', async () => {
      const before = await rows();
      const bad: [string, readonly string[]][] = [
        ['{"model":', []],
        ['[]', []],
        ['{"model":"a","model":"b"}', []],
        [ask('x'), ['X-ABP-Require', 'no_such_capability']],
        [ask('x'), ['X-ABP-Require', 'streaming=sometimes']],
        [ask('x'), ['X-ABP-Compatibility', 'loose']],
        [ask('x'), ['content-encoding', 'gzip']],
        [ask('x'), ['X-ABP-Key', 'abp_unknown']],
      ];
      for (const [body, headers] of bad) {
        const answer = await post(url, body, headers);
        expect([400, 401]).toContain(answer.status);
        expect(JSON.parse(answer.body.toString()).type).toBe('error');
        expect(answer.headers['x-abp-run-id']).toMatch(/^run_/);
        expect((await call(`${server.url}/v1/receipts/${answer.headers['x-abp-run-id']}`)).status).toBe(404);
      }
      expect(await rows()).toBe(before);
    });

    it('are written also for names no database likes', async () => {
      for (const model of ['\\ud800', 'a\\u0000b', 'm'.repeat(512)]) {
        const answer = await post(url, `{"model":"${model}","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`);
        expect(answer.status).toBe(200);
        expect((await of(answer)).status).toBe('completed');
      }
    });

    it('of nobody’s run are not found, and what is no run id is refused', async () => {
      expect((await call(`${server.url}/v1/receipts/${newRunId()}?wait=1`)).status).toBe(404);
      for (const id of ['run_123', 'x', "run_'or'1'='1", '%00']) expect((await call(`${server.url}/v1/receipts/${id}`)).status).toBe(400);
    });

    it('are listed newest first in pages, by what they are', async () => {
      const tag = `model-${Date.now()}`;
      const runs: string[] = [];
      for (let at = 0; at < 5; at += 1) runs.unshift(String((await of(await post(url, ask('hi').replace('sim-1', tag)))).run_id));
      const found: string[] = [];
      let next = `${server.url}/v1/receipts?model=${tag}&limit=2&status=completed&engine=sim&plane=gateway`;
      for (let pages = 0; pages < 3; pages += 1) {
        const { items, next_cursor } = JSON.parse((await call(next)).body.toString());
        found.push(...items.map((item: Receipt) => Receipt.parse(item).run_id));
        next = `${server.url}/v1/receipts?model=${tag}&limit=2&cursor=${next_cursor}`;
      }
      expect(found).toEqual(runs);
      for (const query of ['limit=0', 'limit=x', 'limit=1&limit=2', 'cursor=x', 'unknown=1', 'status=done', 'plane=astral']) {
        expect((await call(`${server.url}/v1/receipts?${query}`)).status).toBe(400);
      }
    });

    it('survive many runs at once', async () => {
      const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => post(url, ask(`say "${at}"`, { stream: at % 2 === 0 }))));
      for (const answer of answers) expect((await of(answer)).status).toBe('completed');
    });

    it('left nothing stalled and nothing logged', async () => {
      expect(server.faults()).toBe('');
      expect(JSON.parse((await call(`${server.url}/readyz`)).body.toString())).toEqual({
        status: 'ready',
        database: 'ok',
        journal: 'ok',
        chain: 'ok',
      });
    });
  });
}
