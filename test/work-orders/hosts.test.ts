import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { HOSTS } from '../../src/runtime/hosts.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { startServe } from '../support/serve.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'abp-hosts-'));
  for (const name of ['workspace', 'user', 'bin']) mkdirSync(join(folder, name));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const names = HOSTS.map(({ id }) => id.slice('host:'.length));

/** No coding agent is on this PATH. */
const bareEnv = (): Record<string, string> => ({
  PATH: '/usr/bin:/bin',
  HOME: join(folder, 'user'),
  ABP_HOME: join(folder, 'home'),
  ABP_LOG: 'error',
});

type Envelope = Record<string, unknown> & { t: string };

describe.each(names)('hosts/%s/host.ts', (name) => {
  it('says the capabilities of the matrix, and runs one work order on sim', async () => {
    const child = spawn(process.execPath, [`hosts/${name}/host.ts`], { env: bareEnv(), stdio: ['pipe', 'pipe', 'pipe'] });
    const said: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => said.push(String(chunk)));
    const heard: Envelope[] = [];
    const order = workOrder('write the text hosted into the file out.txt')
      .workspace({ root: join(folder, 'workspace') })
      .config({ vendor: { abp: { engine: 'sim' } } })
      .build();
    // A control plane may call its runs as it likes.
    const id = `run-of-${name}`;
    createInterface(child.stdout).on('line', (line) => {
      const envelope = JSON.parse(line) as Envelope;
      heard.push(envelope);
      if (envelope.t === 'hello') child.stdin.write(`${JSON.stringify({ t: 'run', id, work_order: order })}\n`);
    });
    await once(child, 'close');
    const host = HOSTS.find(({ id }) => id === `host:${name}`);
    expect(heard[0], said.join('')).toMatchObject({ t: 'hello', contract_version: 'abp/v0.1', mode: host?.mode });
    expect(heard[0]?.capabilities).toEqual(host?.manifest);
    expect(heard.at(-1)).toMatchObject({ t: 'final', ref_id: id, receipt: { outcome: 'complete' } });
    expect(existsSync(join(folder, 'workspace', 'out.txt'))).toBe(true);
    rmSync(join(folder, 'workspace', 'out.txt'));
  });
});

describe('a work order on host:claude', () => {
  it('is run by the coding agent that the host drives, through one receipt with its calls below it', async () => {
    const env = { ...bareEnv(), PATH: fakeCommand(join(folder, 'bin'), 'claude'), ABP_HOME: join(folder, 'served') };
    const server = await startServe(env.ABP_HOME, env);
    const { readFileSync } = await import('node:fs');
    const key = readFileSync(join(env.ABP_HOME, 'token'), 'utf8').trim();
    const order = workOrder('call it a day')
      .workspace({ root: join(folder, 'workspace') })
      .build();
    const started = await fetch(`${server.url}/v1/work-orders?backend=host:claude&engine=sim`, {
      method: 'POST',
      headers: { 'x-abp-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(order),
    });
    const { run_id: run } = (await started.json()) as { run_id: string };
    expect(started.status).toBe(202);
    await expect
      .poll(async () => await (await fetch(`${server.url}/v1/receipts/${run}?wait=5`, { headers: { 'x-abp-key': key } })).json())
      .toMatchObject({ status: 'completed', backend: { id: 'host:claude' }, engine: 'sim', work_order: { id: order.id } });
    const events = await (await fetch(`${server.url}/v1/runs/${run}/events`, { headers: { 'x-abp-key': key } })).text();
    expect(events).toContain('call it a day');
    expect(events).not.toContain('is not installed');
  });
});
