import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post, type WireAnswer } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { startVendors } from './vendor-upstream.ts';

/** A column of the table: who asks whom. */
interface Column {
  readonly path: string;
  readonly mode: 'passthrough' | 'mapped';
  readonly body: object;
  /** A field that the engine has no form for. */
  readonly lossy: object;
  /** Capabilities that the engine has not, and has. */
  readonly lacks: string;
  readonly has: string;
}

const claude = { model: 'claude-sonnet-4-5', max_tokens: 64, messages: [{ role: 'user', content: 'Hello' }] };
const codex = { model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] };
const thinking = { max_tokens: 4096, thinking: { type: 'enabled', budget_tokens: 1024 } };

const COLUMNS: Readonly<Record<string, Column>> = {
  'Claude→Claude': {
    path: '/v1/messages',
    mode: 'passthrough',
    body: claude,
    lossy: thinking,
    lacks: 'logprobs',
    has: 'extended_thinking',
  },
  'Claude→Gemini': {
    path: '/e/gemini/v1/messages',
    mode: 'mapped',
    body: claude,
    lossy: thinking,
    lacks: 'extended_thinking',
    has: 'logprobs',
  },
  'Codex→Claude': {
    path: '/e/claude/v1/chat/completions',
    mode: 'mapped',
    body: codex,
    lossy: { logprobs: true },
    lacks: 'logprobs',
    has: 'tool_use',
  },
  'Codex→Codex': {
    path: '/v1/chat/completions',
    mode: 'passthrough',
    body: codex,
    lossy: { logprobs: true },
    lacks: 'extended_thinking',
    has: 'json_mode',
  },
};

/** The test matrix of the design: ✓ is tested, - does not apply. */
const MATRIX = `
| Test Type        | Claude→Claude | Claude→Gemini | Codex→Claude | Codex→Codex |
| Parity           | ✓             | -             | -            | ✓           |
| Early Failure    | -             | ✓             | ✓            | -           |
| Capability Check | ✓             | ✓             | ✓            | ✓           |
| Receipt Gen      | ✓             | ✓             | ✓            | ✓           |
| Error Codes      | ✓             | ✓             | ✓            | ✓           |
`;

let vendors: Awaited<ReturnType<typeof startVendors>>;
let server: TestGateway;
let down: TestGateway;

beforeAll(async () => {
  vendors = await startVendors();
  vendors.play('text');
  const up = { url: vendors.url, key: 'sk-engine' };
  const dead = { url: 'http://127.0.0.1:1', key: 'sk-engine' };
  server = await startGateway({ engines: { claude: up, gemini: up, openai: up } });
  down = await startGateway({ engines: { claude: dead, gemini: dead, openai: dead } });
});
afterAll(async () => {
  await Promise.all([server.close(), down.close()]);
  await vendors.close();
});

const bodyOf = (answer: WireAnswer) => JSON.parse(answer.body.toString());
const receipt = (answer: WireAnswer, at = server) => receiptOf(at.url, answer.headers['x-abp-run-id']);

async function withoutVendor<T>(work: () => Promise<T>): Promise<T> {
  const before = [vendors.requests.length, vendors.sockets.length];
  const result = await work();
  expect([vendors.requests.length, vendors.sockets.length]).toEqual(before);
  return result;
}

const ROWS: Readonly<Record<string, (column: Column) => Promise<void>>> = {
  async Parity({ path, body }) {
    const text = `${JSON.stringify(body, null, 1)}\n`;
    const direct = await post(`${vendors.url}${path}`, text);
    const through = await post(`${server.url}${path}`, text);
    expect(vendors.requests.at(-1)?.body.toString()).toBe(text);
    expect(through.status).toBe(direct.status);
    expect(through.body.equals(direct.body)).toBe(true);
  },
  async 'Early Failure'({ path, body, lossy }) {
    const answer = await withoutVendor(() => post(`${server.url}${path}`, { ...body, ...lossy }));
    expect(answer.status).toBe(400);
    expect(bodyOf(answer).error).toMatchObject({ code: 'E001', type: 'UnsupportedFeature' });
    expect(await receipt(answer)).toMatchObject({ status: 'failed', response: null, error: { code: 'E001' } });
  },
  async 'Capability Check'({ path, body, lacks, has }) {
    const refused = await withoutVendor(() => post(`${server.url}${path}`, body, ['X-ABP-Require', `${lacks}=emulated`]));
    expect(refused.status).toBe(501);
    expect(bodyOf(refused).error).toMatchObject({ code: 'E006', details: { capability: lacks, cause: 'CAPABILITY_UNSUPPORTED' } });
    const served = await post(`${server.url}${path}`, body, ['X-ABP-Require', `${has}=native`]);
    expect(served.status).toBe(200);
    expect((await receipt(served)).negotiation).toMatchObject({ result: { native: [has] }, unmet: [] });
  },
  async 'Receipt Gen'({ path, body, mode }) {
    const answer = await post(`${server.url}${path}`, body);
    expect(answer.status).toBe(200);
    const made = await receipt(answer);
    expect(made).toMatchObject({ status: 'completed', mode, event_count: 1, response: { status: 200 } });
    expect(made.receipt_sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(made.usage?.input_tokens).toBeGreaterThan(0);
    expect(made.fidelity.length > 0).toBe(mode === 'mapped');
  },
  async 'Error Codes'({ path, body }) {
    const answer = await post(`${down.url}${path}`, body);
    expect(answer.status).toBe(503);
    expect(answer.headers['x-should-retry']).toBe('true');
    const { error } = bodyOf(answer);
    expect(error).toMatchObject({ code: 'E007', type: 'BackendUnavailable', retryable: true });
    expect(error.details.documentation_url).toBe(`${down.url}/docs/errors/E007`);
    expect(error.request_id).toBe(String(answer.headers['x-abp-run-id']).replace('run_', 'req_'));
    expect(await receipt(answer, down)).toMatchObject({ status: 'failed', error: { code: 'E007' } });
  },
};

const cells = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
const [head = '', ...lines] = MATRIX.trim().split('\n');
const [, ...columns] = cells(head);

it('the table names the columns and rows that are tested', () => {
  expect(columns).toEqual(Object.keys(COLUMNS));
  expect(lines.map((line) => cells(line)[0])).toEqual(Object.keys(ROWS));
});

describe.each(lines.map(cells))('%s', (row, ...marks) => {
  const run = ROWS[row];
  const tested = columns.filter((_, at) => marks[at] === '✓');

  it.each(tested)('%s', async (name) => {
    const column = COLUMNS[name];
    if (run === undefined || column === undefined) throw new Error(`no test for ${row} ${name}`);
    await run(column);
  });
});
