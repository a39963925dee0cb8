import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXITS } from '../../src/cli/exit-codes.ts';
import { Confiner, isObstacle } from '../../src/confinement/confiner.ts';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { ESCAPES, escapeScript, layOutside, type Outside, readEscapes } from '../support/escapes.ts';
import { needing } from '../support/needs.ts';
import { type AbpResult, callAbp, runAbp } from '../support/run-abp.ts';
import { startServe } from '../support/serve.ts';

const found = await new Confiner().equipment();
const obstacle = isObstacle(found) ? found.reason : undefined;

let folder: string;
let workspace: string;
let env: Record<string, string>;
let outside: Outside;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'abp-confined-'));
  // The user inside must come to the command.
  chmodSync(folder, 0o755);
  workspace = join(folder, 'workspace');
  for (const name of ['workspace', 'bin', 'user']) mkdirSync(join(folder, name));
  copyFileSync(fileURLToPath(new URL('../support/agents/confined.sh', import.meta.url)), join(folder, 'bin', 'claude'));
  chmodSync(join(folder, 'bin', 'claude'), 0o755);
  const PATH = [join(folder, 'bin'), process.env.PATH ?? ''].join(delimiter);
  env = { PATH, ABP_HOME: join(folder, 'home'), HOME: join(folder, 'user') };
  outside = await layOutside();
});

afterAll(() => {
  outside.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The words of a staged run as a person reads it. */
const shownRun = (): string[] => ['run', 'claude', 'do it', '--engine', 'sim', '--approval', 'yolo', '--cwd', workspace, '--staged'];

/** Runs the agent on a task and returns what the task printed, and the receipt. */
async function confinedRun(task: string, ...more: string[]): Promise<{ result: AbpResult; run: string; printed: string }> {
  writeFileSync(join(workspace, 'task.sh'), task);
  const result = await runAbp([...shownRun(), '--json', '--sandbox', ...more], { env });
  const run = /run_[0-9a-f]{32}/.exec(result.out)?.[0] ?? '';
  const file = join(folder, 'home', 'stages', run, 'tree', 'task.out');
  return { result, run, printed: existsSync(file) ? readFileSync(file, 'utf8') : `nothing: ${result.out} ${result.err}` };
}

const receiptOf = async (run: string): Promise<Record<string, unknown>> =>
  JSON.parse((await callAbp(['receipt', 'show', run, '--json'], { env })).out) as Record<string, unknown>;

/** Asks the gateway from inside, and prints the statuses. */
const KNOCK = `
cat > knock.mjs <<'END'
const base = process.env.ANTHROPIC_BASE_URL;
const root = new URL(base).origin;
const key = { 'x-abp-key': process.env.ANTHROPIC_AUTH_TOKEN };
const ask = async (name, url, headers = {}, body) => {
  const answer = await fetch(url, { headers: { 'content-type': 'application/json', ...headers }, ...(body && { method: 'POST', body }) });
  console.log(name, answer.status);
};
const message = JSON.stringify({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] });
await ask('own engine', base + '/v1/messages', key, message);
await ask('own engine without a key', base + '/v1/messages', {}, message);
await ask('another engine', root + '/e/openai/v1/chat/completions', key, '{"model":"m","messages":[]}');
for (const path of ['/v1/runs', '/v1/receipts', '/v1/sessions', '/v1/keys', '/v1/agents', '/metrics', '/openapi.json']) {
  await ask(path, root + path);
  await ask(path + ' with the key', root + path, key);
}
END
node knock.mjs
`;

describe.skipIf(obstacle !== undefined)(needing('a run in a room', obstacle), () => {
  it('lets nothing out, tells what held it, and its changes come back when they are applied', async () => {
    const { result, run, printed } = await confinedRun(escapeScript(outside));
    expect(result.code).toBe(EXITS.ok.code);
    const { fell, tried, skipped } = readEscapes(printed);
    expect(fell).toEqual([]);
    expect(tried + skipped.length).toBe(ESCAPES.length);
    expect(await receiptOf(run)).toMatchObject({
      enforcement: 'enforced',
      rules: [{ rule: 'sandbox', by: 'os' }],
      change_set: { state: 'staged' },
    });
    expect(existsSync(join(workspace, 'task.out'))).toBe(false);
    const applied = await callAbp(['apply', run], { env });
    expect(applied.code).toBe(EXITS.ok.code);
    expect(readFileSync(join(workspace, 'task.out'), 'utf8')).toBe(printed);
    rmSync(join(workspace, 'task.out'));
  });

  it('reaches its own engine with its own key, and nothing else of the gateway', async () => {
    const { printed } = await confinedRun(KNOCK);
    const lines = printed.trim().split('\n');
    expect(lines[0]).toBe('own engine 200');
    expect(lines[1]).toBe('own engine without a key 401');
    expect(lines.slice(2).filter((line) => !/ (?:401|403)$/.test(line))).toEqual([]);
    expect(lines).toHaveLength(17);
  });

  it('goes out by the proxy alone, which the receipt tells of', async () => {
    const origin = createServer((_, response) => response.end('from the origin'));
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    const { port } = origin.address() as AddressInfo;
    const policy = join(folder, 'network.toml');
    writeFileSync(policy, `allow_network = ["127.0.0.1:${port}"]\n`);
    const task = `curl -s --noproxy '' -x http://127.0.0.1:3128 http://127.0.0.1:${port}/; echo
curl -s -o /dev/null -w '%{http_code}\\n' --noproxy '' -x http://127.0.0.1:3128 http://example.com/
curl -s --noproxy '*' --max-time 2 http://127.0.0.1:${port}/ || echo unreachable`;
    const { printed, run } = await confinedRun(task, '--policy', policy);
    origin.close();
    expect(printed.trim().split('\n')).toEqual(['from the origin', '403', 'unreachable']);
    const { rules } = await receiptOf(run);
    expect(rules).toEqual([
      expect.objectContaining({ rule: 'sandbox', by: 'os' }),
      { rule: `allow_network: 127.0.0.1:${port}`, by: 'os', detail: 'the proxy lets nothing else through' },
      { rule: 'network', by: 'os', detail: `127.0.0.1:${port}` },
      { rule: 'network', by: 'os', detail: 'example.com:80 refused: it is not allowed by the policy' },
    ]);
  });

  it('has the agent of a host inside, wherever that is installed', async () => {
    writeFileSync(join(workspace, 'task.sh'), 'echo the agent was here');
    const order = join(folder, 'order.json');
    const policy = { ...workOrder('x').build().policy, allow_network: ['example.com'] };
    writeFileSync(order, JSON.stringify({ ...workOrder('do it').workspace({ root: workspace, mode: 'staged' }).build(), policy }));
    const words = ['run', '--work-order', order, '--backend', 'host:claude', '--engine', 'sim', '--json'];
    const { out, err } = await runAbp(words, { env });
    expect(`${out}${err}`).not.toContain('is not installed');
    const run = /run_[0-9a-f]{32}/.exec(out)?.[0] ?? '';
    expect(readFileSync(join(folder, 'home', 'stages', run, 'tree', 'task.out'), 'utf8')).toBe('the agent was here\n');
  });

  it('holds rules for paths: what may not be read is not there, what may not be written is not applied', async () => {
    writeFileSync(join(workspace, '.env'), 'SECRET=1');
    mkdirSync(join(workspace, 'locked'), { recursive: true });
    writeFileSync(join(workspace, 'locked', 'file'), 'as it was\n');
    const policy = join(folder, 'paths.toml');
    writeFileSync(policy, 'deny_read = ["**/.env"]\ndeny_write = ["locked/**"]\n');
    const { run, printed } = await confinedRun('cat .env; echo changed > locked/file; echo new > free', '--policy', policy);
    expect(printed).toContain('No such file');
    const applied = await callAbp(['apply', run, '--json'], { env });
    expect(JSON.parse(applied.out)).toMatchObject({ conflicts: [], held: [{ path: 'locked/file', reason: 'deny_write: locked/**' }] });
    expect(readFileSync(join(workspace, 'locked', 'file'), 'utf8')).toBe('as it was\n');
    expect(readFileSync(join(workspace, 'free'), 'utf8')).toBe('new\n');
  });

  it('holds limits on processes, memory and disk, ends a run that outgrows the disk, and the receipt says who held each', async () => {
    const greedy = 'ulimit -d; ulimit -f; head -c 40000000 /dev/zero > a; head -c 40000000 /dev/zero > b; sleep 600';
    const limits = ['process_memory_mb=600', 'processes=400', 'disk_mb=64'].flatMap((limit) => ['--limit', limit]);
    const { result, run, printed } = await confinedRun(greedy, ...limits);
    expect(printed.split('\n').slice(0, 2)).toEqual([String(600 * 1024), String(64 * 1024)]);
    expect(result.out).toContain('grew beyond the 64 MiB that the run may take');
    const rules = ((await receiptOf(run)).rules as { rule: string; by: string }[]).map(({ rule, by }) => `${rule} by ${by}`);
    expect(rules).toEqual(
      expect.arrayContaining(['limits.processes: 400 by os', 'limits.processMemoryMb: 600 by os', 'limits.diskMb: 64 by backplane']),
    );
  });

  it('says how its changes come back, names conflicts and changes nothing', async () => {
    writeFileSync(join(workspace, 'both'), 'before\n');
    writeFileSync(join(workspace, 'task.sh'), 'echo by the agent > both; mkdir .vscode; echo {} > .vscode/tasks.json');
    const { err } = await runAbp(shownRun(), { env });
    const [, run = '', told] = /hint: abp apply (run_[0-9a-f]{32}) brings (.+) from its copy/.exec(err) ?? [];
    // The file and what the task printed; the settings of the editor are held back.
    expect([told, err]).toEqual(['2 changes', expect.stringContaining('; 1 held back')]);
    writeFileSync(join(workspace, 'both'), 'by somebody else\n');
    const { code, out } = await callAbp(['apply', run, '--json'], { env });
    expect(code).toBe(4);
    expect(JSON.parse(out)).toMatchObject({
      applied: 0,
      conflicts: [{ path: 'both', reason: 'it has changed in the workspace meanwhile' }],
    });
    expect(readFileSync(join(workspace, 'both'), 'utf8')).toBe('by somebody else\n');
  });
});

it('has a receipt also where what its agent left cannot be read, and has not succeeded then', async () => {
  // An agent without a sandbox comes to the list of what was copied.
  writeFileSync(join(workspace, 'task.sh'), 'rm ../base.json');
  const { code, out } = await runAbp([...shownRun(), '--json'], { env });
  expect(code).toBe(EXITS.general.code);
  const run = /run_[0-9a-f]{32}/.exec(out)?.[0] ?? '';
  expect(await receiptOf(run)).toMatchObject({
    status: 'failed',
    reason: 'failed',
    error: { code: 'internal', message: 'The stage could not be compared: the list of what was copied cannot be read.' },
    change_set: null,
    rules: [],
  });
});

describe('a policy that nothing holds', () => {
  const refused = async (toml: string, ...more: string[]): Promise<AbpResult> => {
    const policy = join(folder, 'refused.toml');
    writeFileSync(policy, toml);
    return await runAbp(['run', 'claude', 'do it', '--engine', 'sim', '--cwd', workspace, '--policy', policy, ...more], { env });
  };

  it('is refused before anything starts', async () => {
    const { code, err } = await refused('deny_read = ["**/.env"]\n');
    expect(code).toBe(EXITS.refused.code);
    expect(err).toMatch(/The policy cannot be enforced here: deny_read: \*\*\/\.env: .+/);
  });

  it('is advice where the caller accepts that, and the receipt says so', async () => {
    writeFileSync(join(workspace, 'task.sh'), 'true');
    const { code, out } = await refused('deny_read = ["**/.env"]\n', '--advisory', '--json');
    expect(code).toBe(EXITS.ok.code);
    const run = /run_[0-9a-f]{32}/.exec(out)?.[0] ?? '';
    expect(await receiptOf(run)).toMatchObject({
      enforcement: 'advisory',
      rules: [{ rule: 'deny_read: **/.env', by: 'advisory', detail: expect.stringContaining('Run with --staged') }],
    });
  });

  it('is 403 with E005 over HTTP', async () => {
    const server = await startServe(join(folder, 'home'), { HOME: env.HOME, PATH: env.PATH });
    const token = readFileSync(join(folder, 'home', 'token'), 'utf8').trim();
    const answer = await fetch(`${server.url}/v1/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-abp-key': token },
      body: JSON.stringify({ agent: 'claude', prompt: 'x', cwd: workspace, engine: 'sim', policy: { deny_write: ['**'] } }),
    });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: { code: 'E005', details: { policy_rule: 'deny_write: **' } } });
  });

  it('says what is wrong with a file that is no policy', async () => {
    expect((await refused('deny_read = [')).code).toBe(EXITS.usage.code);
    expect((await refused('deny_raed = []')).err).toContain('deny_raed');
  });
});

it('a copy of a folder that holds the home of the backplane has no copy of that', async () => {
  const { out } = await runAbp(['run', 'claude', 'do it', '--engine', 'sim', '--cwd', folder, '--staged', '--json'], { env });
  const run = /run_[0-9a-f]{32}/.exec(out)?.[0] ?? out;
  expect(readdirSync(join(folder, 'home', 'stages', run, 'tree'))).toEqual(expect.arrayContaining(['bin', 'user', 'workspace']));
  expect(existsSync(join(folder, 'home', 'stages', run, 'tree', 'home'))).toBe(false);
});
