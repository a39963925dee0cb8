import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { type WorkOrder, workOrder } from '../../src/contract/work-orders/work-order.ts';
import { RunReport } from '../../src/gateway/api/reports.ts';
import { captureIo } from '../support/capture-io.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type Answer, callRoute } from './control-call.ts';

let server: TestGateway;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'abp-engine-orders-'));
  writeFileSync(join(folder, 'a.txt'), 'first\n');
  server = await startGateway();
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const call = (method: string, path: string, body?: object): ReturnType<typeof callRoute> => callRoute(server, method, path, body);

async function run(order: WorkOrder, query = '?backend=engine:sim'): Promise<Answer> {
  const { status, body } = await call('POST', `/v1/work-orders${query}`, order);
  expect([status, body.error?.message]).toEqual([202, undefined]);
  let receipt: Answer = {};
  await expect
    .poll(async () => {
      receipt = (await call('GET', `/v1/receipts/${body.run_id}?wait=5`)).body;
      return receipt.status;
    })
    .toMatch(/completed|failed|cancelled/);
  return receipt;
}

const refusal = async (order: WorkOrder, query = '?backend=engine:sim'): Promise<unknown[]> => {
  const { status, body } = await call('POST', `/v1/work-orders${query}`, order);
  return [status, body.error?.code, body.error?.message];
};

describe('a bare model with our tools', () => {
  it('works in a staged copy, whose patch is the result, and leaves the folder alone', async () => {
    const receipt = await run(workOrder('write the text hello into the file out.txt').workspace({ root: folder }).build());
    expect(receipt).toMatchObject({
      status: 'completed',
      engine: 'sim',
      backend: { id: 'engine:sim' },
      change_set: { state: 'staged', added: 1 },
      workspace_delta: { added: ['out.txt'] },
      tool_calls: [{ name: 'Write' }],
    });
    expect(existsSync(join(folder, 'out.txt'))).toBe(false);
    const stage = join(server.home, 'stages', String(receipt.run_id));
    expect(readFileSync(join(stage, 'patch.diff'), 'utf8')).toContain('+hello');
  });

  it('is told to people with its prompt, its tool calls, its files and what each of its calls came to', async () => {
    const receipt = await run(workOrder('write the text hello into the file told.txt').workspace({ root: folder }).build());
    const id = String(receipt.run_id);
    const { status, body } = await call('GET', `/v1/receipts/${id}/report`);
    const report = RunReport.parse(body);
    expect(status).toBe(200);
    expect(report).toMatchObject({
      prompt: 'write the text hello into the file told.txt',
      tool_calls: [{ name: 'Write', arguments: expect.stringContaining('told.txt') }],
      files: [{ path: 'told.txt', change: 'added', lines_added: 1, lines_removed: 0 }],
    });
    expect(report.calls.map(({ parent_run_id, engine }) => [parent_run_id, engine])).toEqual(report.calls.map(() => [id, 'sim']));
    expect(report.calls_total).toBe(2);
    const io = captureIo();
    expect(await main(['receipts', 'show', id, '--home', server.home], io)).toBe(0);
    expect(io.out()).toMatch(/^prompt +write the text hello into the file told\.txt$/m);
    expect(io.out()).toMatch(/^2 calls\n(?: {2}….{6} {2}completed {2}sim .*\n){2}/m);
    expect(io.out()).toMatch(/^1 tool call\n {2}Write {2}\{.*told\.txt/m);
    expect(io.out()).toMatch(/^1 file changed, \+1 −0\n {2}A {2}told\.txt {2}\+1 −0$/m);
    expect(io.out()).toMatch(/^Verification\n {2}ok {2}/m);
  });

  it('has a receipt to ask for from the moment it is accepted', async () => {
    const { body } = await call('POST', '/v1/work-orders?backend=engine:sim', workOrder('say hello').workspace({ root: folder }).build());
    expect(await call('GET', `/v1/receipts/${body.run_id}`)).toMatchObject({ status: 200, body: { run_id: body.run_id } });
    expect((await call('GET', `/v1/receipts/${body.run_id}?wait=60`)).status).toBe(200);
  });

  it('works in the folder itself where the order says so', async () => {
    const order = workOrder('write the text direct into the file here.txt').lane('workspace_first');
    const receipt = await run(order.workspace({ root: folder, mode: 'pass_through' }).build());
    expect(receipt).toMatchObject({ status: 'completed', workspace_delta: { added: ['here.txt'] } });
    expect(readFileSync(join(folder, 'here.txt'), 'utf8')).toBe('direct');
  });

  it('does not touch the folder in the lane patch_first, whatever the mode says, and tells so', async () => {
    const receipt = await run(
      workOrder('write the text x into the file never.txt').workspace({ root: folder, mode: 'pass_through' }).build(),
    );
    expect(existsSync(join(folder, 'never.txt'))).toBe(false);
    expect(receipt.fidelity).toContainEqual(expect.objectContaining({ path: 'workspace.mode', fate: 'emulated' }));
  });

  it('is not offered a tool that the order denies, and the receipt says who holds that', async () => {
    const order = workOrder('write the text x into the file denied.txt').workspace({ root: folder });
    const receipt = await run(order.policy({ disallowed_tools: ['Wri*', 'Edit', 'Bash'] }).build());
    expect(receipt).toMatchObject({ status: 'completed', tool_calls: [], change_set: { added: 0 } });
    expect(receipt.rules).toContainEqual(expect.objectContaining({ rule: 'disallowed_tools: Wri*', by: 'agent' }));
  });

  it('stops at the turns that the order allows', async () => {
    const order = workOrder('write the text x into the file turn.txt').workspace({ root: folder });
    expect(await run(order.config({ max_turns: 1 }).build())).toMatchObject({ status: 'failed', reason: 'turn_limit' });
  });

  it('passes the request of a vendor on as it is', async () => {
    const request = { model: 'sim', max_tokens: 50, stream: true, messages: [{ role: 'user', content: 'hello raw' }] };
    const order = workOrder('pass it on').workspace({ root: folder });
    const receipt = await run(order.config({ vendor: { abp: { mode: 'passthrough', request } } }).build());
    expect(receipt.status).toBe('completed');
    const calls = (await call('GET', `/v1/receipts?plane=gateway&limit=50`)).body.items as Answer[];
    expect(calls.filter(({ parent_run_id }) => parent_run_id === receipt.run_id)).toMatchObject([{ mode: 'passthrough' }]);
  });
});

describe('without a named backend', () => {
  it('the best one is chosen, and the receipt says why', async () => {
    const order = workOrder('say hello').workspace({ root: folder });
    const required = [
      { capability: 'tool_read', min_support: 'emulated' },
      { capability: 'extended_thinking', min_support: 'native' },
      { capability: 'seed_determinism', min_support: 'native' },
    ] as const;
    const receipt = await run(order.requirements({ required: [...required] }).build(), '');
    expect(receipt).toMatchObject({
      backend: { id: 'engine:sim' },
      work_order: { chosen_by: 'backplane', why: 'meets 3 of 3; fidelity 0.83; cost unknown; simulated' },
      negotiation: { result: { native: ['extended_thinking', 'seed_determinism'], emulatable: ['tool_read'] }, unmet: [] },
    });
  });

  it('an order that nothing meets is E006', async () => {
    const order = workOrder('t').workspace({ root: folder });
    const required = [{ capability: 'mcp_server' as const, min_support: 'native' as const }];
    expect((await refusal(order.requirements({ required }).build(), '')).slice(0, 2)).toEqual([501, 'E006']);
  });
});

describe('an order that cannot be honoured is refused by the name of the member', () => {
  const base = () => workOrder('t').workspace({ root: folder });
  it.each<[string, () => WorkOrder, string]>([
    ['a root that is not there', () => workOrder('t').workspace({ root: '/nowhere/at/all' }).build(), 'workspace.root'],
    [
      'a file that is not there',
      () =>
        base()
          .context({ files: ['b.txt'] })
          .build(),
      'context.files[0]',
    ],
    [
      'a file outside of the root',
      () =>
        base()
          .context({ files: ['../x'] })
          .build(),
      'context.files[0]',
    ],
    [
      'an option of ours that does not exist',
      () =>
        base()
          .config({ vendor: { abp: { wings: 2 } } })
          .build(),
      'config.vendor.abp',
    ],
    [
      'the same with a dot',
      () =>
        base()
          .config({ vendor: { 'abp.mode': 'fast' } })
          .build(),
      'config.vendor.abp.mode',
    ],
    [
      'files left out of the folder itself',
      () =>
        base()
          .lane('workspace_first')
          .workspace({ mode: 'pass_through', exclude: ['x'] })
          .build(),
      'workspace.exclude',
    ],
  ])('%s', async (_, order, member) => {
    const [status, code, message] = await refusal(order());
    expect([status, code]).toEqual([400, 'invalid_request']);
    expect(message).toContain(member);
  });

  it('a backend that does not exist', async () => {
    expect((await refusal(base().build(), '?backend=engine:warp')).slice(0, 2)).toEqual([404, 'not_found']);
    expect((await refusal(base().build(), '?backend=sidecar:none')).slice(0, 2)).toEqual([404, 'not_found']);
  });

  it('a budget that nothing holds, and a policy that nothing holds, are E005', async () => {
    expect((await refusal(base().config({ max_budget_usd: 1 }).build())).slice(0, 2)).toEqual([403, 'E005']);
    const inPlace = base().lane('workspace_first').workspace({ mode: 'pass_through' });
    expect((await refusal(inPlace.policy({ deny_read: ['a.txt'] }).build())).slice(0, 2)).toEqual([403, 'E005']);
  });
});

it.each([
  ['engine:claude', undefined, [503, 'E007', 'claude has no key here, and the login of Claude with our tools cannot be forwarded to it']],
  ['engine:ollama', undefined, [400, 'VALIDATION_ERROR', expect.stringContaining('model: is required')]],
  ['adapter:claude', '/nowhere', [409, 'AGENT_NOT_INSTALLED', 'Claude Code is not installed: there is no command claude.']],
])('refuses an order on %s, which cannot serve it, before a run starts', async (backend, PATH, expected) => {
  const order = workOrder('t').workspace({ root: folder });
  const asked = PATH === undefined ? order : order.config({ env: { PATH } });
  expect(await refusal(asked.build(), `?backend=${backend}`)).toEqual(expected);
});
