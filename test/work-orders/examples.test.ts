import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Confiner, isObstacle } from '../../src/confinement/confiner.ts';
import { WorkOrder } from '../../src/contract/work-orders/work-order.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { needing } from '../support/needs.ts';

const FOLDER = new URL('../../examples/work-orders/', import.meta.url);
const found = await new Confiner().equipment();
const obstacle = isObstacle(found) ? found.reason : undefined;

let server: TestGateway;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'abp-examples-'));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'README.md'), '# Example\n');
  server = await startGateway();
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

type Answer = Record<string, unknown> & { error?: { code: string; message: string } };

async function call(method: string, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { 'x-abp-key': server.token, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Answer;
}

async function run(name: string): Promise<Answer> {
  const order = WorkOrder.parse(JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')));
  const placed = { ...order, workspace: { ...order.workspace, root: folder } };
  const { run_id: id, error } = await call('POST', '/v1/work-orders?backend=engine:sim', placed);
  expect([name, error?.message]).toEqual([name, undefined]);
  let receipt: Answer = {};
  await expect
    .poll(async () => {
      receipt = await call('GET', `/v1/receipts/${id}?wait=5`);
      return receipt.status;
    })
    .toMatch(/completed|failed|cancelled/);
  return receipt;
}

/** What each example must come to; a file without a row here fails. */
const STAGED = { change_set: { state: 'staged', added: 1 }, artifacts: [{ kind: 'patch' }] };
const EXPECTED: Readonly<Record<string, object>> = {
  'patch-first': STAGED,
  'workspace-first-staged': { ...STAGED, work_order: { lane: 'workspace_first' } },
  'in-place': { change_set: { state: 'in_place', added: 1 }, workspace_delta: { added: ['greeting.txt'] } },
  'patch-of-a-folder-in-use': STAGED,
  requirements: { negotiation: { result: { native: ['streaming'], emulatable: ['tool_read'] } } },
  context: { change_set: { added: 0 } },
  'denied-tools': { tool_calls: [], change_set: { added: 0 } },
  approval: { approvals: [{ tool: 'Write', decision: 'denied', by: 'timeout' }], change_set: { added: 0 } },
  limits: { enforcement: 'advisory' },
  passthrough: { tool_calls: [] },
};
const CONFINED: Readonly<Record<string, object>> = {
  'denied-paths': { ...STAGED, enforcement: 'enforced' },
  'allowed-network': { enforcement: 'enforced' },
};

it('has an expectation for every example', () => {
  const files = readdirSync(FOLDER).map((file) => file.replace('.json', ''));
  expect(files.toSorted()).toEqual(Object.keys({ ...EXPECTED, ...CONFINED }).toSorted());
});

it('runs every example on a bare model', async () => {
  const names = Object.keys(EXPECTED).filter((name) => name !== 'in-place');
  const receipts = await Promise.all(names.map(run));
  expect(existsSync(join(folder, 'greeting.txt'))).toBe(false);
  for (const [at, name] of names.entries()) expect(receipts[at], name).toMatchObject({ status: 'completed', ...EXPECTED[name] });
});

it.skipIf(obstacle !== undefined)(needing('runs those that need the operating system in a room', obstacle), async () => {
  for (const [name, expected] of Object.entries(CONFINED)) {
    const receipt = await run(name);
    expect(receipt, name).toMatchObject({ status: 'completed', ...expected });
    expect(receipt.rules).toEqual(expect.arrayContaining([expect.objectContaining({ by: 'os' })]));
  }
});

it('works in the folder itself where the example says so', async () => {
  expect(await run('in-place')).toMatchObject({ status: 'completed', ...EXPECTED['in-place'] });
});
