import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type Json, type JsonObject, parseJsonObject } from '../../src/base/json.ts';
import { markedProcesses } from '../../src/base/process-table.ts';
import { RUN_MARK } from '../../src/runtime/runs/process/environment.ts';
import { put } from './files.ts';
import { no, type Scenario, type Verdict, yes } from './scenario.ts';
import type { Stage } from './stage.ts';

const WORD = 'pomegranate';
const UNDER_WAY_MS = 3000;
const CANCEL_MS = 15_000;

export const remote: Scenario = {
  name: 'remote',
  about:
    'another `abp serve` runs it for `abp run --remote`, under a key that may do no more than run this agent: a prompt, a second one in the same session where it can resume, and one over HTTP that is cancelled while its events are read',
  async play(stage) {
    const server = await serve(stage, join(stage.workspace(), 'far'));
    try {
      return await played(stage, server);
    } finally {
      await server.end();
    }
  },
};

interface Server {
  readonly url: string;
  readonly home: string;
  /** May run this agent. */
  readonly key: string;
  end(): Promise<void>;
}

/** A server of its own: another process, another home. */
async function serve(stage: Stage, home: string): Promise<Server> {
  // A key that may do no more than run agents runs them below these folders alone.
  const config = join(dirname(home), 'abp.toml');
  put(config, `[runs]\nroots = [${JSON.stringify(dirname(home))}]\n`);
  const child = stage.spawn(['serve', '--json', '--port', '0'], { ABP_HOME: home, ABP_CONFIG: config, ABP_LOG: 'error' });
  const ended = once(child, 'close');
  const [line] = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then((): never => {
      throw new Error('abp serve ended before it served');
    }),
  ]);
  const url = String(parseJsonObject(String(line))?.url);
  const made = await stage.abp(['keys', 'create', 'a friend', '--plane', 'run', '--agent', stage.agent, '--json'], { ABP_HOME: home });
  const key = String(parseJsonObject(made.out)?.secret);
  const end = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  return { url, home, key, end };
}

async function played(stage: Stage, server: Server): Promise<Verdict> {
  const near = { ABP_HOME: join(stage.workspace(), 'near'), ABP_KEY: server.key };
  const cwd = join(dirname(server.home), 'work');
  mkdirSync(cwd);
  const run = async (prompt: string, more: readonly string[] = []): Promise<JsonObject> => {
    const args = ['run', stage.agent, prompt, '--remote', server.url, '--engine', 'sim', '--cwd', cwd, '--json', ...more];
    const { out, err } = await stage.abp(args, near);
    return parseJsonObject(out.trim().split('\n').at(-1) ?? '') ?? { error: err };
  };
  const first = await run(`Say the word ${WORD}`);
  if (first.exitReason !== 'completed') return no(`${first.exitReason}: ${JSON.stringify(first.error)}`);
  const here = parseJsonObject((await stage.abp(['receipts', 'list', '--json'], near)).out)?.items;
  if (Array.isArray(here) && here.length > 0) return no('the run has left receipts on this side');
  const problem = (await resumed(stage, server, first, run)) ?? (await cancelled(stage, server, cwd));
  return problem === undefined ? yes('') : no(problem);
}

async function resumed(
  stage: Stage,
  server: Server,
  { sessionId }: JsonObject,
  run: (prompt: string, more: readonly string[]) => Promise<JsonObject>,
): Promise<string | undefined> {
  const { canResume } = (await stage.agents.adapters.detect(stage.agent)).effective;
  if (!canResume) return undefined;
  const second = await run('Say hello again', ['--session', String(sessionId)]);
  if (second.exitReason !== 'completed') return `the second run: ${second.exitReason}: ${JSON.stringify(second.error)}`;
  const { items } = await asked(server, `/v1/receipts?plane=gateway&limit=100`);
  const calls = (Array.isArray(items) ? items : []).filter(isJsonObject).filter(({ parent_run_id }) => parent_run_id === second.runId);
  const bodies = await Promise.all(calls.map(({ run_id }) => asked(server, `/v1/receipts/${run_id}/request?side=engine`)));
  return bodies.some((body) => JSON.stringify(body).includes(WORD)) ? undefined : 'the second run does not know the first';
}

/** Cancels a run while its events are read; the last one must say so. */
async function cancelled(stage: Stage, server: Server, cwd: string): Promise<string | undefined> {
  const options = { agent: stage.agent, prompt: 'wait 60000 ms', engine: 'sim', cwd };
  const { run_id: run } = await asked(server, '/v1/runs', { key: server.key, body: options });
  if (typeof run !== 'string') return 'POST /v1/runs started nothing';
  const events = fetch(`${server.url}/v1/runs/${run}/events`, { headers: { 'x-abp-key': server.key } }).then((answer) => answer.text());
  await sleep(UNDER_WAY_MS);
  await asked(server, `/v1/runs/${run}/cancel`, { key: server.key, body: {} });
  const text = await Promise.race([events, sleep(CANCEL_MS, '')]);
  const last = parseJsonObject(/event: run_result\ndata: (.*)/.exec(text)?.[1] ?? '');
  if (last?.exitReason !== 'aborted') return `a cancelled run ends as ${String(last?.exitReason)}`;
  return markedProcesses(RUN_MARK, run).length === 0 ? undefined : 'a cancelled run leaves a process';
}

/** Asks the server over HTTP, with its token unless another key is given. */
async function asked(server: Server, path: string, { key, body }: { key?: string; body?: JsonObject } = {}): Promise<JsonObject> {
  const answer = await fetch(`${server.url}${path}`, {
    headers: { 'x-abp-key': key ?? readFileSync(join(server.home, 'token'), 'utf8').trim(), 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  const value = (await answer.json()) as Json; // what `json` parses is JSON
  return isJsonObject(value) ? value : {};
}
