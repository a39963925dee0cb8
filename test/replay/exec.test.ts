import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EXITS } from '../../src/cli/exit-codes.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import { type AbpResult, runAbp } from '../support/run-abp.ts';

let upstream: RecordingUpstream;
let folder: string;
let file: string;
let asked: number;

beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream?.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'abp-exec-test-'));
  file = join(folder, 'recorded.jsonl');
  asked = 0;
  upstream.answer((socket) => {
    asked += 1;
    const message = { role: 'assistant', content: `answer ${asked}` };
    const completion = {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'gpt-x',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
    };
    socket.write(whole(JSON.stringify(completion)));
  });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that asks the same thing a few times, as an SDK would, and prints the answers. */
const PROGRAM = `
  const answers = [];
  for (let at = 0; at < Number(process.argv[1]); at += 1) {
    const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
      body: JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: 'hello' }] }),
    });
    const body = await response.json();
    answers.push(body.choices?.[0].message.content ?? response.status + ' ' + body.error.code);
  }
  console.log(answers.join(', '));
  process.exit(answers.some((answer) => /^\\d/.test(answer)) ? 9 : 0);
`;

function exec(options: readonly string[], times: number): Promise<AbpResult> {
  const env = { ABP_HOME: join(folder, 'home'), ABP_ENGINE_OPENAI_URL: upstream.url };
  return runAbp(['exec', ...options, '--', process.execPath, '--input-type=module', '-e', PROGRAM, String(times)], { env });
}

describe('abp exec', () => {
  it('sends a command to its engines, and ends when it does', async () => {
    expect(await exec([], 2)).toMatchObject({ code: 0, out: 'answer 1, answer 2\n' });
  });

  it('records what is missing, and then answers equal requests in the order in which they were answered', async () => {
    const first = await exec(['--record-missing', file], 2);
    expect(first).toMatchObject({ code: 0, out: 'answer 1, answer 2\n', err: expect.stringContaining('2 calls recorded') });
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(2);
    expect(await exec(['--record-missing', file], 3)).toMatchObject({ code: 0, out: 'answer 1, answer 2, answer 2\n', err: '' });
    expect(await exec(['--replay', file], 2)).toMatchObject({ code: 0, out: 'answer 1, answer 2\n' });
    expect(asked).toBe(2);
  });

  /** Uploads something that passes unread, then opens a WebSocket, and says how both went. */
  const UNREAD = `
    const upload = await fetch(process.env.ABP_URL + '/e/openai/v1/files', { method: 'POST', body: 'a file' });
    const socket = new WebSocket(process.env.ABP_URL.replace('http', 'ws') + '/e/openai/v1/realtime');
    const opened = await new Promise((resolve) => { socket.onopen = () => resolve('opened'); socket.onerror = () => resolve('refused'); });
    console.log(upload.status, opened);
  `;

  it('says which calls cannot be recorded, and lets none of them past a replayed file', async () => {
    const env = { ABP_ENGINE_OPENAI_URL: upstream.url, ABP_ENGINE_OPENAI_KEY: 'k' };
    const child = ['--', process.execPath, '--input-type=module', '-e', UNREAD];
    await exec(['--record-missing', file], 1);
    const recording = await runAbp(['exec', '--record-missing', file, ...child], { env });
    expect(recording).toMatchObject({ code: 0, err: expect.stringContaining('1 call not recorded') });
    const before = asked;
    expect(await runAbp(['exec', '--replay', file, ...child], { env })).toMatchObject({ code: 0, out: '404 refused\n' });
    expect(asked).toBe(before);
  });

  it('refuses what a replayed file lacks, asks no engine, and ends with the exit code of the command', async () => {
    await exec(['--record-missing', file, '--engine', 'sim'], 1);
    const replayed = await runAbp(
      ['exec', '--replay', file, '--', process.execPath, '--input-type=module', '-e', PROGRAM.replace('hello', 'something else'), '1'],
      { env: { ABP_HOME: join(folder, 'home'), ABP_ENGINE_OPENAI_URL: upstream.url } },
    );
    expect(replayed).toMatchObject({ code: 9, out: expect.stringContaining('replay_miss') });
    expect(asked).toBe(0);
  });

  it('says what is wrong before it starts anything', async () => {
    expect(await exec(['--replay', file], 1)).toMatchObject({
      code: EXITS.notFound.code,
      err: expect.stringContaining('there is no file'),
    });
    expect(await exec(['--replay', file, '--record-missing', file], 1)).toMatchObject({ code: EXITS.usage.code });
    const missing = await runAbp(['exec', '--', 'no-such-program-here']);
    expect(missing).toMatchObject({ code: EXITS.notFound.code, err: expect.stringContaining('no-such-program-here cannot be started') });
  });
});
