import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXITS, type ExitName } from '../../src/cli/exit-codes.ts';
import { main } from '../../src/cli/main.ts';
import { openHome } from '../../src/home/home.ts';
import { captureIo } from '../support/capture-io.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const folder = mkdtempSync(join(tmpdir(), 'abp-failures-'));
const file = (name: string): string => join(folder, name);
const RUN = `run_${'0'.repeat(31)}1`;
let server: TestGateway;
let takenPort = '';
const taken = createServer();

beforeAll(async () => {
  server = await startGateway();
  taken.listen(0, '127.0.0.1');
  await once(taken, 'listening');
  // A TCP server has an address object; only pipes have a string.
  takenPort = String((taken.address() as AddressInfo).port);
  writeFileSync(file('unknown-engine.toml'), '[engines.nothing]\nkey = "x"\n');
  writeFileSync(file('broken.toml'), 'x = = 1\n');
  writeFileSync(file('request.json'), '{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}');
});
afterAll(async () => {
  await server.close();
  taken.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A failure: the words of the command, its exit, its message and the next step. */
interface Row {
  readonly argv: readonly string[];
  readonly exit: ExitName;
  readonly message: RegExp;
  readonly hint: RegExp;
  /** Another home than that of the server. */
  readonly home?: string;
}

const ROWS: readonly Row[] = [
  { argv: ['budgets', 'create', '--key', 'nobody', '--usd', '5'], exit: 'usage', message: /There is no key nobody/, hint: /abp keys list/ },
  {
    argv: ['budgets', 'create', '--engine', 'nothing', '--usd', '5'],
    exit: 'usage',
    message: /no engine nothing/,
    hint: /abp capabilities/,
  },
  { argv: ['sign-ins', 'end', 'nobody'], exit: 'notFound', message: /There is no sign-in nobody/, hint: /abp sign-ins list/ },
  { argv: ['run', 'claude', 'hi', '--thinking', 'huge'], exit: 'usage', message: /"huge" is not one of low/, hint: /abp run --help/ },
  { argv: ['receipts', 'list', '--limit', 'x'], exit: 'usage', message: /--limit: 'x' is not a number/, hint: /digits/ },
  { argv: ['usage', '--since', 'never', '--by', 'key'], exit: 'usage', message: /'never' is not a time/, hint: /24h, 7d, yesterday/ },
  {
    argv: ['serve', '--port', '{taken}'],
    home: file('a'),
    exit: 'general',
    message: /port \d+ on 127\.0\.0\.1 is taken/,
    hint: /another port/,
  },
  {
    argv: ['serve', '--port', '0'],
    exit: 'general',
    message: /another server \(pid \d+\) already serves this home at http/,
    hint: /Commands find that server by themselves/,
  },
  {
    argv: ['serve'],
    home: '/proc/nowhere',
    exit: 'config',
    message: /the home \/proc\/nowhere cannot be created/,
    hint: /ABP_HOME .*--home/,
  },
  { argv: ['keys', 'list'], home: '/proc/nowhere', exit: 'config', message: /cannot be created/, hint: /ABP_HOME .*--home/ },
  { argv: ['keys', 'list'], home: file('b'), exit: 'unavailable', message: /no server is running/, hint: /abp serve.*--home/ },
  { argv: ['usage'], home: file('b'), exit: 'unavailable', message: /no server is running/, hint: /abp serve/ },
  { argv: ['console'], home: file('b'), exit: 'unavailable', message: /no server is running/, hint: /abp serve/ },
  { argv: ['env', 'claude'], home: file('b'), exit: 'unavailable', message: /no server is running/, hint: /abp serve/ },
  { argv: ['keys', 'revoke', 'key_1'], exit: 'notFound', message: /no live key key_1/, hint: /abp keys list/ },
  {
    argv: ['keys', 'create', 'x', '--plane', 'astral'],
    exit: 'usage',
    message: /"astral" is not one of gateway, run, agent/,
    hint: /Correct what the message names/,
  },
  { argv: ['receipts', 'show', RUN], exit: 'notFound', message: /no receipt for run_/, hint: /abp receipts list/ },
  { argv: ['receipts', 'verify', RUN], exit: 'notFound', message: /no receipt for run_/, hint: /abp receipts list/ },
  { argv: ['receipts', 'show', RUN], home: file('b'), exit: 'notFound', message: /no receipt for run_/, hint: /abp receipts list/ },
  {
    argv: ['receipts', 'list', '--cursor', 'x'],
    exit: 'usage',
    message: /cursor is not one that this list gave out/,
    hint: /list before printed/,
  },
  { argv: ['receipts', 'list', '--since', 'bananas'], exit: 'usage', message: /'bananas' is not a time/, hint: /24h/ },
  { argv: ['receipts', 'list', '--key', 'nobody'], exit: 'notFound', message: /no key with the name "nobody"/, hint: /abp keys list/ },
  { argv: ['receipts', 'list', '--min-cost', 'much'], exit: 'usage', message: /'much' is not a sum of dollars/, hint: /0\.05/ },
  { argv: ['replay', RUN], exit: 'notFound', message: /no recorded bodies of run_/, hint: /abp recordings list/ },
  { argv: ['recordings', 'erase', '--run', RUN], exit: 'notFound', message: /no recorded bodies of run_/, hint: /abp recordings list/ },
  { argv: ['apply', RUN], exit: 'notFound', message: /no stage of run_/, hint: /--staged/ },
  { argv: ['agents', 'show', 'nobody'], exit: 'notFound', message: /no active agent 'nobody'/, hint: /abp agents list/ },
  { argv: ['agents', 'show', `agent_${'0'.repeat(32)}`], exit: 'notFound', message: /no agent agent_0/, hint: /abp agents list/ },
  {
    argv: ['agents', 'create', 'a', '--model', 'nope/nope'],
    exit: 'usage',
    message: /"nope\/nope" names no engine/,
    hint: /Correct what the message names/,
  },
  { argv: ['agents', 'import', file('none.md')], exit: 'usage', message: /cannot read/, hint: /path of a text file/ },
  { argv: ['chat', 'nobody', '--message', 'x'], exit: 'notFound', message: /no active agent 'nobody'/, hint: /abp agents list/ },
  {
    argv: ['chat', 'nobody', '--session', `session_${'0'.repeat(32)}`, '--message', 'x'],
    exit: 'notFound',
    message: /no session session_0/,
    hint: /abp agents sessions/,
  },
  { argv: ['run', 'nobody', 'hi'], exit: 'notFound', message: /no agent 'nobody'; known are claude/, hint: /abp adapters list/ },
  {
    argv: ['run', 'claude', 'hi', '--remote', 'http://127.0.0.1:1'],
    exit: 'unavailable',
    message: /http:\/\/127\.0\.0\.1:1 does not answer/,
    hint: /abp serve/,
  },
  { argv: ['run', '--work-order', file('none.json')], exit: 'usage', message: /cannot read/, hint: /path of a JSON file/ },
  { argv: ['models', 'show', 'claude', 'nope'], exit: 'notFound', message: /'claude' has no model 'nope'/, hint: /abp models list claude/ },
  { argv: ['capabilities', 'nope'], exit: 'notFound', message: /no backend "nope"/, hint: /abp capabilities lists/ },
  { argv: ['host', 'nope'], exit: 'notFound', message: /no host "nope"/, hint: /abp host claude/ },
  {
    argv: ['negotiate', 'engine:sim', '--require', 'flying'],
    exit: 'usage',
    message: /"flying" is not a known capability/,
    hint: /Correct/,
  },
  {
    argv: ['explain', file('request.json'), '--from', 'claude', '--to', 'nope'],
    exit: 'notFound',
    message: /no engine "nope"/,
    hint: /abp capabilities/,
  },
  {
    argv: ['explain', file('none.json'), '--from', 'claude', '--to', 'sim'],
    exit: 'usage',
    message: /cannot read/,
    hint: /path of a JSON file/,
  },
  { argv: ['config', 'check', file('unknown-engine.toml')], exit: 'config', message: /no engine "nothing"/, hint: /Correct the values/ },
  { argv: ['config', 'check', file('broken.toml')], exit: 'config', message: /is not valid TOML/, hint: /Correct the values/ },
  {
    argv: ['config', 'check', file('none.toml')],
    exit: 'config',
    message: /cannot read .*none\.toml: it does not exist/,
    hint: /Name a file that exists/,
  },
  { argv: ['worker'], home: file('b'), exit: 'config', message: /shares a PostgreSQL database/, hint: /ABP_DATABASE_URL/ },
  {
    argv: ['exec', '--replay', file('none.jsonl'), '--', 'true'],
    exit: 'notFound',
    message: /no file .*none\.jsonl of recordings/,
    hint: /--record-missing/,
  },
  {
    argv: ['conformance', 'http://127.0.0.1:1'],
    exit: 'unavailable',
    message: /http:\/\/127\.0\.0\.1:1 does not answer: connect ECONNREFUSED/,
    hint: /abp serve/,
  },
  { argv: ['schema', 'nope'], exit: 'notFound', message: /no schema 'nope'/, hint: /abp schema lists/ },
  { argv: ['schema', '--output', '/proc/nowhere/x'], exit: 'usage', message: /cannot be made/, hint: /folder that you may write/ },
];

async function abp(argv: readonly string[], home: string): Promise<{ code: number; error: { message: string; hint: string } }> {
  const io = captureIo();
  const words = argv.map((word) => (word === '{taken}' ? takenPort : word));
  const [end, rest] = words.includes('--') ? [words.slice(0, words.indexOf('--')), words.slice(words.indexOf('--'))] : [words, []];
  const code = await main([...end, '--home', home, ...rest], io);
  const [, message = '', hint = ''] = /^abp: (.*)\nhint: (.*)\n$/.exec(io.err()) ?? [];
  return { code, error: { message, hint } };
}

describe('a command that fails', () => {
  it.each(ROWS)('says of $argv what happened and what to do next', async ({ argv, exit, message, hint, home }) => {
    const { code, error } = await abp(argv, home ?? server.home);
    expect([error.message, error.hint, code]).toEqual([expect.stringMatching(message), expect.stringMatching(hint), EXITS[exit].code]);
  });

  it('is told by a server of another version that the two differ', async () => {
    const old = createHttpServer(({ url }, response) => {
      const isHealth = url === '/healthz';
      const body = isHealth ? { status: 'ok', version: '0.0.1' } : { error: { code: 'not_found', message: `There is no path ${url}.` } };
      response.writeHead(isHealth ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    await once(old, 'listening');
    const home = openHome({ path: file('old') });
    const lock = home.lockServer();
    // A TCP server has an address object; only pipes have a string.
    home.writeAddress({ url: `http://127.0.0.1:${(old.address() as AddressInfo).port}`, pid: process.pid });
    try {
      const { code, error } = await abp(['usage'], home.path);
      expect([code, error.message, error.hint]).toEqual([
        EXITS.unavailable.code,
        expect.stringMatching(/^the server at http:\S+ is version 0\.0\.1, this command is \d+\.\d+\.\d+: There is no path/),
        expect.stringMatching(/start it again with the version of this command/),
      ]);
    } finally {
      lock.release();
      old.close();
    }
  });
});
