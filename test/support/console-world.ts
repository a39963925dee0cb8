import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fakeCommand } from './agents/command.ts';
import { makeWorkFolder } from './agents/work-script.ts';
import { type ConsoleStage, startConsole } from './console.ts';
import { startPrompter } from './console-shop.ts';
import { startGateway } from './gateway.ts';

/**
 * A server as a team has it: three vendors with keys and prices, keys of colleagues, budgets, and a coding agent on the path. The
 * vendors are the `sim` of a second server, so that nothing leaves the machine and every wire is spoken as it is.
 */
export interface ConsoleWorld extends ConsoleStage {
  /** Starts the coding agent on a prompt; its run id. */
  run(prompt: string, options?: object): Promise<string>;
  /** A call of the control API with the home's token. */
  admin<T>(method: string, path: string, body?: object): Promise<T>;
}

export async function startWorld(): Promise<ConsoleWorld> {
  const parent = mkdtempSync(join(tmpdir(), 'abp-console-world-'));
  const path = fakeCommand(join(parent, 'bin'), 'claude', 'working');
  const before = process.env.PATH;
  // The server of a test lives in this process and looks for agents on its path.
  process.env.PATH = path;
  const vendors = await startGateway();
  const engine = (wire: string): object => ({ url: `${vendors.url}/e/sim:${wire}`, key: 'key-of-the-operator' });
  const prompter = await startPrompter(`${vendors.url}/e/sim:claude`);
  const engines = {
    claude: { url: prompter.url, key: 'key-of-the-operator' },
    openai: engine('openai-responses'),
    gemini: engine('gemini'),
  };
  const stage = await startConsole({ config: { engines } });
  const { url, token } = stage.server;
  const admin = async <T>(method: string, route: string, body?: object): Promise<T> => {
    const answer = await fetch(`${url}${route}`, {
      method,
      headers: { 'x-abp-key': token, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${route}: ${answer.status} ${text}`);
    return JSON.parse(text) as T; // the caller knows what the route answers
  };
  let folders = 0;
  return {
    ...stage,
    admin,
    run: async (prompt, options = {}) => {
      folders += 1;
      const cwd = join(parent, `app-${folders}`);
      mkdirSync(cwd);
      makeWorkFolder(cwd);
      const asked = { agent: 'claude', engine: 'gemini', model: 'gemini-2.5-pro', prompt, cwd, approvalMode: 'prompt', ...options };
      return (await admin<{ run_id: string }>('POST', '/v1/runs', asked)).run_id;
    },
    close: async () => {
      await stage.close();
      await prompter.close();
      await vendors.close();
      process.env.PATH = before ?? delimiter;
      rmSync(parent, { recursive: true, force: true });
    },
  };
}

const MAPPED = {
  stream: true,
  temperature: 0.2,
  stop_sequences: ['END'],
  metadata: { user_id: 'u_4812' },
  system: [{ type: 'text', text: 'You are the release clerk. Answer in one line.', cache_control: { type: 'ephemeral' } }],
  tools: [
    {
      name: 'lookup_release',
      description: 'Finds a release by version.',
      input_schema: { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] },
    },
  ],
  tool_choice: { type: 'auto' },
};

/** Calls of every kind with prices: passed on, mapped with losses, refused, failed, by keys and by nobody. */
export async function makeTraffic({ server, admin }: ConsoleWorld, rounds: number): Promise<void> {
  const keys: string[] = [];
  for (const name of ['docs-team', 'release-bot', 'ci-nightly']) {
    const { secret, id } = await admin<{ secret: string; id: string }>('POST', '/v1/keys', { name, scopes: { planes: ['gateway'] } });
    keys.push(secret);
    await admin('POST', '/v1/budgets', { on: { key: id }, period: 'month', limit_nano_usd: BUDGETS[name] });
  }
  const send = async (path: string, body: object, key: string | undefined, tag?: string): Promise<void> => {
    const headers = {
      ...{ 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      ...(key === undefined ? {} : { 'x-abp-key': key }),
      ...(tag === undefined ? {} : { 'x-abp-tags': tag }),
    };
    const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    // A cut stream ends in an error of the reader; the run is what is wanted.
    await answer.arrayBuffer().catch(() => undefined);
  };
  const claude = (model: string, content: string, more: object = {}): object => ({
    ...{ model, max_tokens: 800, messages: [{ role: 'user', content }] },
    ...more,
  });
  for (let round = 0; round < rounds; round += 1) {
    const key = keys[round % keys.length];
    const asked = `Wait ${20 + round * 15} ms. Wait 9 ms between words. Say exactly: "Round ${round}: all of the handbook was read."`;
    await send('/e/claude/v1/messages', claude('claude-sonnet-4-5', asked, { stream: round % 2 === 0, system: HANDBOOK }), key);
    await send('/e/openai/v1/responses', { model: 'gpt-5.1', input: `Wait 40 ms. Say exactly: "hi ${round}"` }, key);
    const question = 'Wait 30 ms. Wait 12 ms between words. Call the tool lookup_release with {"version":"4.2.0"}.';
    await send('/e/gemini/v1/messages', claude('gemini-2.5-pro', question, MAPPED), keys[1], 'project:clerk');
    await send(
      '/e/gemini/v1beta/models/gemini-2.5-flash:generateContent',
      { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
      key,
    );
    if (round % 3 === 0) await send('/e/openai/v1/messages', claude('gpt-5.1', 'hi', { top_k: 40 }), keys[0]);
    if (round % 4 === 1) await send('/e/claude/v1/messages', claude('claude-sonnet-4-5', 'Fail with 429.'), key);
    if (round % 4 === 2) await send('/e/sim/v1/messages', claude('any-name', 'Say exactly: "hello from the sim"'), undefined);
  }
  await server.gateway.keeper.settled();
}

/** A long prompt with a mark for the cache, so that calls cost what they cost a team. */
const HANDBOOK = [
  { type: 'text', text: 'Leases end with their workers, and nobody holds two. '.repeat(900), cache_control: { type: 'ephemeral' } },
];

const BUDGETS: Readonly<Record<string, number>> = { 'docs-team': 250_000_000, 'release-bot': 400_000_000, 'ci-nightly': 120_000_000 };
