import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { EXITS } from '../../src/cli/exit-codes.ts';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { ABP_BIN } from '../support/built.ts';
import { callAbp } from '../support/run-abp.ts';
import { startServe } from '../support/serve.ts';

let folder: string;
let env: Record<string, string>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'abp-terminal-'));
  for (const name of ['bin', 'user', 'work']) mkdirSync(join(folder, name));
  env = { PATH: fakeCommand(join(folder, 'bin'), 'claude'), HOME: join(folder, 'user'), ABP_HOME: join(folder, 'home'), TERM: 'xterm' };
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A file with an order that must ask before it writes. */
function orderFile(name: string): string {
  const order = workOrder(`write the text yes into the file ${name}`)
    .lane('workspace_first')
    .workspace({ root: join(folder, 'work'), mode: 'pass_through' })
    .policy({ require_approval_for: ['write'] })
    .build();
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(order));
  return file;
}

interface Screen {
  text(): string;
  type(text: string): void;
  readonly code: Promise<number>;
}

/** `abp run` of that order in a terminal of its own. */
function inTerminal(name: string): Screen {
  const args = [ABP_BIN, 'run', '--work-order', orderFile(name), '--backend', 'engine:sim'];
  const pty = spawn(process.execPath, args, { cwd: folder, env, cols: 120, rows: 40 });
  let text = '';
  pty.onData((data) => {
    text += data;
  });
  let over = false;
  const code = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode }) => {
      over = true;
      resolve(exitCode);
    });
  });
  onTestFinished(() => (over ? undefined : pty.kill('SIGKILL')));
  return { text: () => text, type: (words) => pty.write(words), code };
}

const written = (name: string): boolean => existsSync(join(folder, 'work', name));
const asked = async ({ text }: Screen): Promise<void> => await expect.poll(text).toContain('allow? [y/N]');
const approvalsOf = async (screen: Screen): Promise<unknown> => {
  const run = /run_[0-9a-f]{32}/.exec(screen.text())?.[0] ?? '';
  return (JSON.parse((await callAbp(['receipts', 'show', run, '--json'], { env })).out) as { approvals: unknown }).approvals;
};

describe('a run in a terminal', () => {
  it('asks the person there, and a yes lets the tool run', async () => {
    const screen = inTerminal('yes.txt');
    await asked(screen);
    expect(written('yes.txt')).toBe(false);
    screen.type('y\r');
    expect(await screen.code).toBe(EXITS.ok.code);
    expect(written('yes.txt')).toBe(true);
    expect(await approvalsOf(screen)).toMatchObject([{ tool: 'Write', decision: 'approved', by: 'the person at the terminal' }]);
  });

  it('is ended by Ctrl-C at the question', async () => {
    const screen = inTerminal('never.txt');
    await asked(screen);
    screen.type('\u0003');
    expect(await screen.code).toBe(EXITS.interrupted.code);
    expect(written('never.txt')).toBe(false);
  });

  it('takes its question back when somebody else has answered it', async () => {
    const server = await startServe(join(folder, 'home'), { HOME: env.HOME, PATH: env.PATH });
    const token = readFileSync(join(folder, 'home', 'token'), 'utf8').trim();
    const screen = inTerminal('elsewhere.txt');
    await asked(screen);
    const inbox = await fetch(`${server.url}/v1/interactions`, { headers: { 'x-abp-key': token } });
    const { items } = (await inbox.json()) as { items: { id: string; run_id: string }[] };
    const { id, run_id: run } = items[0] ?? { id: '', run_id: '' };
    const answer = await fetch(`${server.url}/v1/runs/${run}/interactions/${id}`, {
      method: 'POST',
      headers: { 'x-abp-key': token, 'content-type': 'application/json' },
      body: JSON.stringify({ approve: false }),
    });
    expect(answer.status).toBe(202);
    expect(await screen.code).toBe(EXITS.ok.code);
    expect(screen.text()).toContain('nobody has to answer this any more');
    expect(written('elsewhere.txt')).toBe(false);
  });
});

describe('a run that nobody sits before', () => {
  it.each([
    ['of an order', () => ['run', '--work-order', orderFile('deaf.txt'), '--backend', 'engine:sim']],
    [
      'of an agent',
      () => ['run', 'claude', 'do it', '--engine', 'sim', '--cwd', join(folder, 'work'), '--policy', join(folder, 'ask.toml')],
    ],
  ])('is E004 before anything starts where it would have to be asked: %s', async (_, args) => {
    writeFileSync(join(folder, 'ask.toml'), 'require_approval_for = ["write"]\n');
    const { code, out } = await callAbp([...args(), '--json'], { env });
    expect(code).toBe(EXITS.refused.code);
    expect(out).toContain('E004');
    expect(written('deaf.txt')).toBe(false);
  });
});
