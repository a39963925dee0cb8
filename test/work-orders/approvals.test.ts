import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type Answer, callRoute, endedReceipt } from './control-call.ts';

let server: TestGateway;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'abp-approvals-'));
  server = await startGateway();
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const call = (method: string, path: string, body?: object): ReturnType<typeof callRoute> => callRoute(server, method, path, body);

/** An order that writes a file in the folder itself, for which somebody must be asked. */
const order = (file: string, vendor: Record<string, string | number | boolean> = {}) =>
  workOrder(`write the text yes into the file ${file}`)
    .lane('workspace_first')
    .workspace({ root: folder, mode: 'pass_through' })
    .policy({ require_approval_for: ['wri*'] })
    .config({ vendor: { abp: vendor } })
    .build();

const start = async (file: string, vendor = {}): Promise<string> => {
  const { status, body } = await call('POST', '/v1/work-orders?backend=engine:sim', order(file, vendor));
  expect([status, body.error]).toEqual([202, undefined]);
  return String(body.run_id);
};

interface Question {
  readonly id: string;
  readonly run_id?: string;
}

async function question(run: string): Promise<Question> {
  let found: Question | undefined;
  await expect
    .poll(async () => {
      found = ((await call('GET', `/v1/runs/${run}`)).body.interactions as Question[])[0];
      return found?.id;
    })
    .toBeDefined();
  return found as Question; // polled for
}

const receiptOf = (run: string): Promise<Answer> => endedReceipt(server, run);

describe('a tool that needs an approval', () => {
  it('waits in the inbox, runs when somebody says yes, and the receipt says who did', async () => {
    const run = await start('yes.txt');
    const { id } = await question(run);
    expect(existsSync(join(folder, 'yes.txt'))).toBe(false);
    const inbox = (await call('GET', '/v1/interactions')).body.items as Question[];
    expect(inbox.map((one) => one.id)).toContain(id);
    expect((await call('POST', `/v1/runs/${run}/interactions/${id}`, { approve: true, reason: 'it is mine' })).status).toBe(202);
    const receipt = await receiptOf(run);
    expect(receipt.status).toBe('completed');
    expect(existsSync(join(folder, 'yes.txt'))).toBe(true);
    expect(receipt.approvals).toMatchObject([
      {
        id,
        tool: 'Write',
        risk: 'low',
        facts: ['writes'],
        decision: 'approved',
        by: 'the holder of the token (token)',
        reason: 'it is mine',
      },
    ]);
    expect(receipt.rules).toContainEqual(expect.objectContaining({ rule: 'require_approval_for: wri*', by: 'agent' }));
  });

  it('does not run when somebody says no', async () => {
    const run = await start('no.txt');
    const { id } = await question(run);
    await call('POST', `/v1/runs/${run}/interactions/${id}`, { approve: false, reason: 'not today' });
    expect((await receiptOf(run)).approvals).toMatchObject([{ decision: 'denied', reason: 'not today' }]);
    expect(existsSync(join(folder, 'no.txt'))).toBe(false);
  });

  it('is denied by silence', async () => {
    const run = await start('late.txt', { approval_timeout_seconds: 0.2 });
    expect((await receiptOf(run)).approvals).toMatchObject([{ decision: 'denied', by: 'timeout' }]);
    expect(existsSync(join(folder, 'late.txt'))).toBe(false);
  });

  it('is E004 before anything starts where nobody can answer', async () => {
    const { status, body } = await call('POST', '/v1/work-orders?backend=engine:sim', order('x.txt', { answerable: false }));
    expect([status, body.error?.code]).toEqual([403, 'E004']);
  });

  it('is E005 where the backend cannot be made to wait', async () => {
    const { status, body } = await call('POST', '/v1/work-orders?backend=adapter:cursor', order('x.txt'));
    expect([status, body.error?.code]).toEqual([403, 'E005']);
  });
});
