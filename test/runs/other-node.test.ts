import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fakeCommand } from '../support/agents/command.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

let postgres: TestPostgres;
let folder: string;
let drives: TestGateway;
let other: TestGateway;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'abp-other-node-'));
  postgres = await startPostgres();
  process.env.ABP_KEY_SECRET = 'a secret that both homes know, long enough';
  const databaseUrl = await postgres.readyDatabase();
  drives = await startGateway({ databaseUrl });
  other = await startGateway({ databaseUrl });
});
afterAll(async () => {
  for (const node of [drives, other]) await node?.close();
  delete process.env.ABP_KEY_SECRET;
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function call<T>({ url, token }: TestGateway, method: string, path: string, body?: object): Promise<{ status: number; body: T }> {
  const headers = { 'x-abp-key': token, 'content-type': 'application/json' };
  const answer = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return { status: answer.status, body: (await answer.json()) as T };
}

async function started(prompt: string): Promise<string> {
  const env = { PATH: fakeCommand(join(folder, 'bin'), 'claude') };
  const options = { agent: 'claude', prompt, cwd: folder, engine: 'sim', env, approvalMode: 'prompt' };
  const { status, body } = await call<{ run_id: string }>(drives, 'POST', '/v1/runs', options);
  expect(status).toBe(201);
  return body.run_id;
}

/** The questions of a run, as a node lists them. */
async function asked(node: TestGateway, run: string): Promise<{ id: string; tool: string | null; path: string }[]> {
  const { body } = await call<{ items: { id: string; run_id: string; tool: string | null; answer: { path: string } }[] }>(
    node,
    'GET',
    '/v1/interactions',
  );
  return body.items.filter(({ run_id }) => run_id === run).map(({ id, tool, answer: { path } }) => ({ id, tool, path }));
}

/** Everything that a node tells of a run until its end. */
async function told(node: TestGateway, run: string): Promise<string> {
  const answer = await fetch(`${node.url}/v1/runs/${run}/events`, { headers: { 'x-abp-key': node.token } });
  return await answer.text();
}

it('an approval is listed and answered on a node that does not drive the run, and both nodes tell its events to the end', async () => {
  const run = await started('ask');
  const elsewhere = told(other, run);
  await expect.poll(() => asked(other, run)).toHaveLength(1);
  expect(await asked(other, run)).toEqual(await asked(drives, run));
  const [question] = await asked(other, run);
  expect((await call(other, 'POST', question?.path ?? '', { approve: true })).status).toBe(202);
  const text = await elsewhere;
  expect(text).toContain('event: approval_granted');
  expect(text).toContain('event: run_result');
  expect(text).toContain('permission: allow');
  const ids = (all: string): string[] => all.split('\n').filter((line) => line.startsWith('id: '));
  expect(ids(text)).toEqual(ids(await told(drives, run)));
  await expect.poll(() => asked(other, run)).toEqual([]);
  expect(await call(other, 'POST', question?.path ?? '', { approve: true })).toMatchObject({ body: { error: { code: 'RUN_NOT_ACTIVE' } } });
});

it('a forged order in the database moves no run', async () => {
  const run = await started('ask');
  await expect.poll(() => asked(drives, run)).toHaveLength(1);
  const [question] = await asked(drives, run);
  const order = { kind: 'answer', interaction: question?.id, reply: { approve: true }, by: 'nobody' };
  const { store } = other.gateway;
  const name = `run_order/${run}/forged`;
  await store.db
    .insertInto('settings')
    .values({ name, value: JSON.stringify(JSON.stringify(order)) })
    .execute();
  const left = () => store.db.selectFrom('settings').select('name').where('name', '=', name).execute();
  // It is taken and thrown away.
  await expect.poll(left).toEqual([]);
  expect(await asked(drives, run)).toEqual([question]);
  expect((await call(other, 'POST', `/v1/runs/${run}/cancel`)).status).toBe(202);
  expect(await told(other, run)).toContain('event: run_result');
});
