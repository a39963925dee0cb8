import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';
import { markedProcesses } from '../../src/base/process-table.ts';
import { dialects } from '../../src/dialects/index.ts';
import { RUN_MARK } from '../../src/runtime/runs/process/environment.ts';
import { attachments } from './attaching.ts';
import { byHand } from './by-hand.ts';
import { approvals, cold, fork, hooks, interrupt, mcp, parallel, sixAtOnce } from './control.ts';
import { listedModels, secondEngine, thinking } from './engines.ts';
import { escapes } from './escapes.ts';
import { textOf } from './files.ts';
import { launch } from './launch.ts';
import { login } from './login.ts';
import { remote } from './remote.ts';
import { no, notClaimed, type Scenario, type Verdict, yes } from './scenario.ts';
import type { Stage } from './stage.ts';
import { whyNot } from './why-not.ts';

const prompt: Scenario = {
  name: 'prompt',
  about: 'answers a prompt; usage comes from the gateway',
  async play(stage) {
    const played = await stage.play({ prompt: 'Say hello' });
    const { result, calls } = played;
    const good = result.exitReason === 'completed' && result.text !== '' && result.tokenUsage.total > 0;
    return good ? yes(`${calls.length} calls, ${result.tokenUsage.total} tokens`) : no(whyNot(played));
  },
};

/** Whether the agent wrote the file it was asked for, on this engine. */
async function wrote(stage: Stage, engine: string): Promise<Verdict> {
  const cwd = stage.workspace();
  const played = await stage.play({ prompt: 'write the text over and out into the file out.txt', cwd, engine, approvalMode: 'yolo' });
  const refused = played.calls.filter(({ error }) => error !== null);
  const written = textOf(join(cwd, 'out.txt')).trim();
  if (written !== 'over and out') return no(`${written === '' ? 'no file' : `wrote "${written}"`}; ${whyNot(played)}`);
  return refused.length === 0 ? yes(`${played.calls.length} calls`) : no(whyNot(played));
}

const write: Scenario = { name: 'write', about: 'writes a file, all approvals given', play: (stage) => wrote(stage, 'sim') };

const THINKING = ['thinking', 'output_config', 'reasoning', 'reasoning_effort', 'generationConfig.thinkingConfig'] as const;

/** What a request says about thinking, in its own dialect. */
function thinkingIn(body: JsonObject): string {
  const found = THINKING.flatMap((path) => {
    const value = path.split('.').reduce<Json | undefined>((at, key) => (isJsonObject(at) ? at[key] : undefined), body);
    return value === undefined ? [] : [`${path}: ${JSON.stringify(value)}`];
  });
  return found.join(', ');
}

const effort: Scenario = {
  name: 'effort',
  about: 'low and high effort differ on the wire',
  async play(stage) {
    const adapter = stage.agents.adapters.get(stage.agent);
    if (!(await stage.agents.adapters.detect(adapter.agent)).effective.supportsThinking) return notClaimed('no thinking mode');
    const seen: string[] = [];
    for (const thinkingEffort of ['low', 'high'] as const) {
      const played = await stage.play({ thinkingEffort });
      // Agents make side calls (titles, routing); the one with tools is the work.
      const bodies = await Promise.all(played.calls.map((call) => stage.sent(call)));
      const main = bodies.find(({ tools }) => tools !== undefined) ?? bodies[0] ?? {};
      seen.push(thinkingIn(main));
    }
    const [low = '', high = ''] = seen;
    return low !== high ? yes(`low ${low}; high ${high}`) : no(`both ${low === '' ? 'nothing' : low}`);
  },
};

const resume: Scenario = {
  name: 'resume',
  about: 'a resumed session sends what was said before',
  async play(stage) {
    const adapter = stage.agents.adapters.get(stage.agent);
    if (!(await stage.agents.adapters.detect(adapter.agent)).effective.canResume) return notClaimed('cannot resume');
    const cwd = stage.workspace();
    const first = await stage.play({ prompt: 'Say the word pomegranate', cwd });
    const { sessionId } = first.result;
    if (sessionId === null) return no(`no session id; ${whyNot(first)}`);
    const second = await stage.play({ prompt: 'Say hello again', cwd, sessionId });
    const bodies = await Promise.all(second.calls.map((call) => stage.sent(call)));
    const remembered = bodies.some((body) => JSON.stringify(body).includes('pomegranate'));
    return remembered && second.result.exitReason === 'completed' ? yes('') : no(`remembered: ${remembered}; ${whyNot(second)}`);
  },
};

const abort: Scenario = {
  name: 'abort',
  about: 'ends at once when aborted, and leaves no process',
  async play(stage) {
    const handle = stage.start({ prompt: 'wait 60000 ms' });
    const ended = stage.finish(handle);
    // Long enough to be in the middle of its call.
    await sleep(8000);
    const began = performance.now();
    await handle.abort();
    const ms = Math.round(performance.now() - began);
    const { result } = await ended;
    const left = markedProcesses(RUN_MARK, handle.runId);
    if (left.length > 0) return no(`${left.length} processes are left`);
    return result.exitReason === 'aborted' ? yes(`${ms} ms`) : no(`ended before it was aborted: ${result.exitReason}`);
  },
};

const rateLimit: Scenario = {
  name: '429',
  about: 'a rate limit of the engine reaches the agent and is no success; the note says how the agent took it',
  async play(stage) {
    const played = await stage.play({ prompt: 'fail with 429', timeout: 60_000 });
    const { result, events, calls } = played;
    const limited = calls.filter(({ response }) => isJsonObject(response) && response.status === 429).length;
    const told = events.some(({ type }) => type === 'rate_limited' || type === 'rate_limit_error' || type === 'retry' || type === 'error');
    const note = `${limited} refused calls; ${result.exitReason}${result.error === null ? '' : ` ${result.error.code}`}${told ? '' : ', silent'}`;
    return result.exitReason === 'completed' || limited === 0 ? no(note) : yes(note);
  },
};

const onDialects: Scenario[] = dialects.map(({ id }) => ({
  name: `sim:${id}`,
  about: `the same file, on an engine that speaks ${id}`,
  play: (stage) => wrote(stage, `sim:${id}`),
}));

export const SCENARIOS: readonly Scenario[] = [
  cold,
  prompt,
  write,
  effort,
  thinking,
  resume,
  fork,
  approvals,
  hooks,
  attachments,
  mcp,
  interrupt,
  abort,
  parallel,
  sixAtOnce,
  rateLimit,
  launch,
  byHand,
  login,
  remote,
  secondEngine,
  listedModels,
  escapes,
  ...onDialects,
];
