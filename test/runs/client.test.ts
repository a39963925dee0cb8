import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../../src/base/subprocess.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import { CapabilityError, ValidationError } from '../../src/contract/runs/run-error.ts';
import { createClient } from '../../src/node/client.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { ABP_CLIENT } from '../support/built.ts';
import { startGateway } from '../support/gateway.ts';
import { receiptOf } from '../support/receipt-of.ts';

let folder: string;
let env: Record<string, string>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'abp-client-runs-'));
  mkdirSync(join(folder, 'work'));
  env = { PATH: fakeCommand(join(folder, 'bin'), 'claude'), HOME: folder, ABP_HOME: join(folder, 'home') };
  return () => rmSync(folder, { recursive: true, force: true });
});

describe('createClient().run', () => {
  it('runs through a gateway of its own, which closes after the last run', async () => {
    const mux = createClient({ env });
    const runs = ['one', 'two'].map((prompt) => mux.run({ agent: 'claude', prompt, engine: 'sim', cwd: join(folder, 'work') }));
    const results = await Promise.all(runs);
    expect(results.map(({ exitReason, text }) => [exitReason, text.includes('one') || text.includes('two')])).toEqual([
      ['completed', true],
      ['completed', true],
    ]);
    await mux.close();
  });

  it('runs from a program that is in no file', async () => {
    const program = `
      import { createClient } from ${JSON.stringify(ABP_CLIENT)};
      const mux = createClient();
      const { exitReason, error } = await mux.run({ agent: 'claude', prompt: 'hello', engine: 'sim', cwd: ${JSON.stringify(folder)} });
      await mux.close();
      console.log(exitReason, error);`;
    const { stdout, stderr } = await runCommand(process.execPath, ['--input-type=module', '--eval', program], { env });
    expect([stdout, stderr]).toEqual(['completed null\n', '']);
  });

  it('refuses by a throw, before it returns a handle', async () => {
    const mux = createClient({ env });
    expect(() => mux.run({ agent: 'pi', prompt: 'x', mcpServers: [{ name: 'a', transport: 'stdio', command: 'b' }] })).toThrow(
      CapabilityError,
    );
    expect(() => mux.run({ agent: 'claude', prompt: '' })).toThrow(ValidationError);
    await mux.close();
  });

  it('asks the callback for approvals', async () => {
    const mux = createClient({ env });
    const asked: string[] = [];
    const result = await mux.run({
      agent: 'claude',
      prompt: 'ask',
      engine: 'sim',
      cwd: join(folder, 'work'),
      approvalMode: 'prompt',
      onApprovalRequest: ({ toolName }) => {
        asked.push(toolName ?? '');
        return false;
      },
    });
    expect([asked, result.text]).toEqual([['Write'], expect.stringContaining('permission: deny')]);
    await mux.close();
  });
});

describe('an id of the caller', () => {
  it('is that of the run, and a second run of it ends before it begins and leaves the first alone', async () => {
    const mux = createClient({ env });
    const options = {
      agent: 'claude',
      prompt: 'ask',
      engine: 'sim',
      cwd: join(folder, 'work'),
      approvalMode: 'prompt',
      runId: newRunId(),
    } as const;
    const first = mux.run(options);
    expect(first.runId).toBe(options.runId);
    await new Promise<void>((resolve) => first.once('approval_request', () => resolve()));
    const second = await mux.run(options);
    expect(second).toMatchObject({ exitReason: 'failed', error: { code: 'conflict' } });
    expect(first.state).toBe('running');
    first.approve();
    expect(await first).toMatchObject({ exitReason: 'completed' });
    expect(await mux.run(options)).toMatchObject({ exitReason: 'failed', error: { code: 'conflict' } });
    await mux.close();
  });

  it('is held against the runs of the server that serves the home', async () => {
    const home = join(folder, 'named');
    const server = await startGateway({ home });
    onTestFinished(() => server.close());
    const mux = createClient({ env: { ...env, ABP_HOME: home } });
    const options = { agent: 'claude', prompt: 'hi', engine: 'sim', cwd: join(folder, 'work'), runId: newRunId() };
    expect(await mux.run(options)).toMatchObject({ exitReason: 'completed', runId: options.runId });
    expect(await mux.run(options)).toMatchObject({
      error: { code: 'conflict', message: expect.stringContaining(`/v1/runs/${options.runId}`) },
    });
    await mux.close();
  });
});

it('a hook stops a tool of an agent that waits for it', async () => {
  const mux = createClient({ env });
  const tools: unknown[] = [];
  const run = mux.run({
    agent: 'claude',
    prompt: 'hook',
    engine: 'sim',
    cwd: join(folder, 'work'),
    approvalMode: 'yolo',
    hooks: {
      preToolUse: ({ data }) => {
        tools.push(data);
        return { decision: 'deny', message: 'not here' };
      },
    },
  });
  expect((await run).text).toContain('hook: deny not here');
  expect(tools).toEqual([{ toolCallId: 't1', toolName: 'Write', input: { file_path: 'a', content: 'b' } }]);
  expect(() => mux.run({ agent: 'openclaw', prompt: 'hi', hooks: { preToolUse: () => undefined } })).toThrow(CapabilityError);
  await mux.close();
});

describe('beside a server of the same home', () => {
  it('runs through that server, and the receipts are there', async () => {
    const home = join(folder, 'served');
    const server = await startGateway({ home });
    onTestFinished(() => server.close());
    const mux = createClient({ env: { ...env, ABP_HOME: home } });
    const { runId, tokenUsage } = await mux.run({ agent: 'claude', prompt: 'hi', engine: 'sim', cwd: join(folder, 'work'), tags: ['sdk'] });
    expect(tokenUsage.total).toBeGreaterThan(0);
    expect(await receiptOf(server.url, runId)).toMatchObject({
      plane: 'run',
      status: 'completed',
      tags: ['sdk'],
      backend: { id: 'adapter:claude' },
    });
    await mux.close();
  });

  it('is closed there as interrupted when its own process is killed', async () => {
    const home = join(folder, 'served-2');
    const server = await startGateway({ home });
    onTestFinished(() => server.close());
    const script = fileURLToPath(new URL('./sdk-child.ts', import.meta.url));
    const child = spawn(process.execPath, [script, join(folder, 'work')], {
      env: { ...env, ABP_HOME: home },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(child.stdout, 'data');
    child.kill('SIGKILL');
    expect(await receiptOf(server.url, String(line).trim())).toMatchObject({ plane: 'run', status: 'failed', reason: 'interrupted' });
  });
});
