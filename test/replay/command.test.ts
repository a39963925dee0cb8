import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { captureIo } from '../support/capture-io.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { startServe } from '../support/serve.ts';

let server: TestGateway;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'abp-replay-command-'));
  server = await startGateway({ home: join(folder, 'home') });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function abp(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = captureIo();
  const code = await main([...argv, '--home', server.home], io);
  return { code, out: io.out(), err: io.err() };
}

const ask = (content: string, more: object = {}): object => ({
  model: 'sim-1',
  max_tokens: 99,
  messages: [{ role: 'user', content }],
  ...more,
});
async function recorded(content: string, more: object = {}, path = '/e/sim/v1/messages'): Promise<string> {
  const run = await post(`${server.url}${path}`, ask(content, more));
  return (await receiptOf(server.url, run.headers['x-abp-run-id'])).run_id;
}

describe('abp replay', () => {
  it('says that a deterministic engine did the same again', async () => {
    for (const more of [{}, { stream: true }]) {
      const run = await recorded('say "once more"', more);
      const { code, out } = await abp('replay', run, '--json');
      const result = JSON.parse(out);
      expect(result).toMatchObject({ run_id: run, engine: 'sim', same: true, same_answer: true, differs: [], answer: [] });
      expect(result.again.run_id).not.toBe(run);
      expect(code).toBe(0);
    }
  });

  it('runs it on another engine and shows which parts differ', async () => {
    const run = await recorded('say "once more"');
    const { code, out } = await abp('replay', run, '--engine', 'sim:gemini', '--json');
    const result = JSON.parse(out);
    expect(code).toBe(0);
    expect(result).toMatchObject({ same: false, same_answer: true });
    expect(result.differs.map(({ part }: { part: string }) => part)).toEqual(['mode', 'fidelity', 'upstream_request', 'response']);
  });

  it('shows the difference of the answers, line by line', async () => {
    // The sim writes the run into its errors, so no two are the same.
    const run = await recorded('fail with 429');
    const { code, out } = await abp('replay', run, '--no-color');
    expect(code).toBe(1);
    expect(out).toContain('another answer\n\nresponse  {"bytes":147');
    expect(out.match(/^[-+] \{"type":"error","error":\{"type":"rate_limit_error"/gm)).toHaveLength(2);
    const said = await recorded('say "first\nsecond"');
    const other = await abp('replay', said, '--engine', 'replay', '--no-color');
    expect(other.out).toContain('the same answer, another receipt');
  });

  it('on an engine that does not exist is refused before anything is sent', async () => {
    const run = await recorded('say "once more"');
    const { code, out, err } = await abp('replay', run, '--engine', 'nope');
    expect([code, out]).toEqual([3, '']);
    expect(err).toContain('there is no engine "nope"');
    expect(err).toContain('Known are claude, openai, gemini');
  });

  it('of a run that is not recorded is not found', async () => {
    const { code, err } = await abp('replay', 'run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b');
    expect(code).toBe(3);
    expect(err).toContain('There are no recorded bodies of run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b.');
  });
});

describe('abp recordings', () => {
  it('lists what is recorded', async () => {
    const run = await recorded('list me');
    const { out } = await abp('recordings', 'list', '--limit', '1', '--no-color');
    expect(out).toMatch(
      new RegExp(
        `^Run +Started +Engine +Path +Status +Replay\n${run} +\\d+ (?:s|min) ago +sim +/v1/messages +200 +yes\nmore: --cursor \\S+\n$`,
      ),
    );
  });

  it('exports a file that serves an application offline, by the environment alone', async () => {
    const run = await recorded('say "from a file"');
    const file = join(folder, 'recorded.jsonl');
    const { out } = await abp('recordings', 'export', '--run', run, '--file', file);
    expect(out).toBe(`1 recordings in ${file}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ format: 'abp-recording/1', run_id: run, replayable: true });
    const offline = await startServe(join(folder, 'offline'), { ABP_REPLAY_FILE: file });
    const answer = await post(`${offline.url}/e/replay/v1/messages`, ask('say "from a file"'));
    expect(JSON.parse(answer.body.toString()).content[0].text).toBe('from a file');
    expect((await post(`${offline.url}/e/replay/v1/messages`, ask('something else'))).status).toBe(404);
    await offline.end('SIGTERM');
  });

  it('erases what it is told, and nothing when nothing is named', async () => {
    const run = await recorded('erase me');
    expect(await abp('recordings', 'erase')).toMatchObject({ code: 2, err: expect.stringContaining('nothing is named to erase') });
    expect((await abp('recordings', 'erase', '--run', run, '--json')).out).toBe('{\n  "erased": 1,\n  "elsewhere": 0\n}\n');
    expect((await abp('recordings', 'erase', '--engine', 'sim', '--json')).code).toBe(0);
    expect(JSON.parse((await abp('recordings', 'list', '--engine', 'sim', '--json')).out).items).toEqual([]);
  });
});

it('works on a home whose server is not running', async () => {
  const home = join(folder, 'resting');
  const first = await startServe(home);
  const run = await post(`${first.url}/e/sim/v1/messages`, ask('say "resting"'));
  await first.end('SIGTERM');
  const io = captureIo();
  expect(await main(['replay', String(run.headers['x-abp-run-id']), '--home', home, '--json'], io)).toBe(0);
  expect(JSON.parse(io.out())).toMatchObject({ same: true });
});
