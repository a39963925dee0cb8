import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';
import { markedProcesses } from '../../src/base/process-table.ts';
import type { AgentCapabilities } from '../../src/contract/runs/coding-agent.ts';
import { CapabilityError } from '../../src/contract/runs/run-error.ts';
import { RUN_MARK } from '../../src/runtime/runs/process/environment.ts';
import { textOf } from './files.ts';
import { no, notClaimed, type Scenario, yes } from './scenario.ts';
import type { Played, Stage } from './stage.ts';
import { whyNot } from './why-not.ts';

const WRITE = 'write the text over and out into the file out.txt';
const SIX = 6;

async function effectiveOf(stage: Stage): Promise<AgentCapabilities> {
  return (await stage.agents.adapters.detect(stage.agent)).effective;
}

const written = (cwd: string): boolean => textOf(join(cwd, 'out.txt')).trim() === 'over and out';

/** Runs the prompt as the guide shows it: somebody listens for approvals and answers each. */
async function answered(stage: Stage, cwd: string, approve: boolean): Promise<Played & { readonly asked: number }> {
  let asked = 0;
  const handle = stage.start({ prompt: WRITE, cwd, approvalMode: 'prompt' });
  handle.on('approval_request', ({ interactionId }) => {
    asked += 1;
    if (approve) handle.approve(interactionId);
    else handle.deny(interactionId, 'not today');
  });
  return { ...(await stage.finish(handle)), asked };
}

export const approvals: Scenario = {
  name: 'approvals',
  about: 'it asks before it writes: a yes lets it, a no does not',
  async play(stage) {
    const [yesFolder, noFolder] = [stage.workspace(), stage.workspace()];
    const approved = await answered(stage, yesFolder, true);
    if (approved.result.exitReason === 'crashed') return no(whyNot(approved));
    if (approved.asked === 0 && !written(yesFolder)) return notClaimed('it cannot ask in a run; what would need an approval is not done');
    if (approved.asked === 0) return no('it wrote the file without asking');
    if (!written(yesFolder)) return no(`approved, and there is no file; ${whyNot(approved)}`);
    const denied = await answered(stage, noFolder, false);
    if (written(noFolder)) return no('denied, and it wrote the file');
    const { approvals: records } = await stage.receipt(denied.result.runId);
    return Array.isArray(records) && records.length > 0
      ? yes(`${approved.asked} and ${denied.asked} questions`)
      : no('the receipt names no approval');
  },
};

export const fork: Scenario = {
  name: 'fork',
  about: 'a branch of a session knows what was said before, and has an id of its own',
  async play(stage) {
    if (!(await effectiveOf(stage)).canFork) return notClaimed('cannot fork');
    const cwd = stage.workspace();
    const first = await stage.play({ prompt: 'Say the word pomegranate', cwd });
    const { sessionId } = first.result;
    if (sessionId === null) return no(`no session id; ${whyNot(first)}`);
    const second = await stage.play({ prompt: 'Say hello again', cwd, forkSessionId: sessionId });
    const bodies = await Promise.all(second.calls.map((call) => stage.sent(call)));
    if (!JSON.stringify(bodies).includes('pomegranate')) return no(`the branch has forgotten; ${whyNot(second)}`);
    if (second.result.sessionId === sessionId) return no('the branch has the id of its origin');
    return second.events.some(({ type }) => type === 'session_fork') ? yes('') : no('no event session_fork');
  },
};

/** Names of the tools in a request, in whatever dialect. */
function toolNames(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(toolNames);
  if (!isJsonObject(value)) return [];
  return [...(typeof value.name === 'string' ? [value.name] : []), ...Object.values(value).flatMap(toolNames)];
}

/** Tools through which an agent lets its model call those that it does not offer by name, and what they take. */
const DISPATCHERS: Readonly<Record<string, (input: JsonObject) => JsonObject>> = {
  tool_call: (args) => ({ id: 'example__shout', args }),
};

export const mcp: Scenario = {
  name: 'mcp',
  about:
    'a server of the run is started, its tool is offered to the model (or behind the agent’s own search), called, and its result sent back',
  async play(stage) {
    if (!(await effectiveOf(stage)).supportsMCP) return notClaimed('no MCP');
    const server = {
      name: 'example',
      transport: 'stdio' as const,
      command: process.execPath,
      args: [join(import.meta.dirname, 'mcp-server.ts')],
    };
    const options = { mcpServers: [server], approvalMode: 'yolo' as const };
    const first = await stage.play(options);
    const offered = (await Promise.all(first.calls.map((call) => stage.sent(call)))).flatMap(({ tools = null }) => toolNames(tools));
    const name = offered.find((one) => one.endsWith('shout')) ?? offered.find((one) => one in DISPATCHERS);
    if (name === undefined) return no(`no tool of the server is offered; ${whyNot(first)}`);
    const input = { text: 'hush now' };
    const second = await stage.play({
      ...options,
      prompt: `call the tool ${name} with ${JSON.stringify(DISPATCHERS[name]?.(input) ?? input)}`,
    });
    const bodies = await Promise.all(second.calls.map((call) => stage.sent(call)));
    return JSON.stringify(bodies).includes('HUSH NOW') ? yes(name) : no(`${name} gave no result; ${whyNot(second)}`);
  },
};

export const hooks: Scenario = {
  name: 'hooks',
  about:
    '`preToolUse` sees the call before it is made, and its denial keeps the file from being written; `postToolUse` is told of a call that was made',
  async play(stage) {
    const [denied, done] = [stage.workspace(), stage.workspace()];
    const [before, after]: [string[], string[]] = [[], []];
    const options = { prompt: WRITE, approvalMode: 'yolo' } as const;
    try {
      const first = await stage.play({
        ...options,
        cwd: denied,
        hooks: {
          preToolUse: ({ data }) => {
            before.push(data.toolName);
            return { decision: 'deny', message: 'no files today' };
          },
        },
      });
      if (before.length === 0) return no(`preToolUse was not called; ${whyNot(first)}`);
      if (written(denied)) return no(`denied ${before.join(', ')}, and the file was written`);
      const second = await stage.play({ ...options, cwd: done, hooks: { postToolUse: ({ data }) => void after.push(data.toolName) } });
      if (after.length === 0) return no(`postToolUse was not called; ${whyNot(second)}`);
      return written(done)
        ? yes(`before ${before.join(', ')}; after ${after.join(', ')}`)
        : no(`told of ${after.join(', ')}, and there is no file`);
    } catch (error) {
      if (error instanceof CapabilityError) return notClaimed(error.message);
      throw error;
    }
  },
};

const WORDS = 'say "one two three four five six seven eight nine ten" and wait 2000 ms between words';

export const interrupt: Scenario = {
  name: 'interrupt',
  about:
    'stopped while the model writes: it ends as interrupted, its receipt has the usage so far and counts the events that were told, and the words so far are kept where the agent streams them',
  async play(stage) {
    const handle = stage.start({ prompt: WORDS });
    let told = 0;
    const ended = stage.finish(handle);
    handle.on('text_delta', () => {
      told += 1;
    });
    await stage.underWay(handle.runId);
    handle.interrupt();
    const { result, events } = await ended;
    if (markedProcesses(RUN_MARK, handle.runId).length > 0) return no('a process is left');
    if (result.exitReason !== 'interrupted' && result.exitReason !== 'aborted') return no(`ended as ${result.exitReason}`);
    const { status, usage, event_count } = await stage.receipt(handle.runId);
    const problem = bookProblem({ status: status ?? null, usage: usage ?? null, count: event_count ?? null, events: events.length });
    if (problem !== undefined) return no(problem);
    if (told > 0 && result.text === '') return no('it had streamed words, and the result has none');
    const { output_tokens: output = 0, estimated = false } = isJsonObject(usage) ? usage : {};
    return yes(`${String(output)} tokens${estimated === true ? ', estimated' : ''}; "${result.text.slice(0, 40)}"`);
  },
};

interface Book {
  readonly status: Json;
  readonly usage: Json;
  readonly count: Json;
  readonly events: number;
}

function bookProblem({ status, usage, count, events }: Book): string | undefined {
  if (status !== 'cancelled') return `its receipt says ${String(status)}`;
  if (!isJsonObject(usage) || Number(usage.input_tokens) === 0) return `its receipt has the usage ${JSON.stringify(usage)}`;
  return count === events ? undefined : `its receipt counts ${String(count)} events, ${events} were told`;
}

export const parallel: Scenario = {
  name: 'parallel',
  about: 'three runs at once write three files, each its own',
  async play(stage) {
    const folders = [stage.workspace(), stage.workspace(), stage.workspace()];
    const prompt = (at: number): string => `write the text number ${at} into the file out.txt`;
    const played = await Promise.all(
      folders.map((cwd, at) => stage.play({ prompt: prompt(at), cwd, approvalMode: 'yolo', timeout: 3 * stage.patienceMs })),
    );
    const wrong = folders.findIndex((cwd, at) => textOf(join(cwd, 'out.txt')).trim() !== `number ${at}`);
    const failed = played[wrong];
    return failed === undefined ? yes('') : no(whyNot(failed));
  },
};

/** The last line of `abp run --json`, and how it ended. */
function ended({ code, out, err }: { readonly code: number | null; readonly out: string; readonly err: string }): JsonObject {
  const line = out.trim().split('\n').at(-1) ?? '';
  const last = /^\{/.test(line) ? (JSON.parse(line) as JsonObject) : {}; // what is printed is JSON
  const { exitReason = null, error = null } = last;
  return { exit: code, exitReason, error: isJsonObject(error) ? (error.code ?? null) : error, ...(code !== 0 && { err: err.slice(-200) }) };
}

export const cold: Scenario = {
  name: 'cold',
  about: 'the first `abp run` on a new home, without a server and with an option that needs the installed version, answers like the second',
  async play(stage) {
    const env = { ABP_HOME: join(stage.workspace(), 'new') };
    const args = ['run', stage.agent, 'Say hello', '--engine', 'sim', '--thinking', 'low', '--json'];
    const first = ended(await stage.abp(args, env));
    const second = ended(await stage.abp(args, env));
    if (JSON.stringify(first) !== JSON.stringify(second)) return no(`first ${JSON.stringify(first)}, then ${JSON.stringify(second)}`);
    return first.exit === 0 || first.exit === 4
      ? yes(first.exit === 0 ? '' : 'refused both times: no thinking mode')
      : no(JSON.stringify(first));
  },
};

export const sixAtOnce: Scenario = {
  name: 'six at once',
  about: 'six `abp run` at the same moment on a new home without a server all complete',
  async play(stage) {
    const env = { ABP_HOME: join(stage.workspace(), 'new') };
    const all = await Promise.all(
      Array.from({ length: SIX }, () => stage.abp(['run', stage.agent, 'Say hello', '--engine', 'sim', '--json'], env)),
    );
    const failed = all.map(ended).filter(({ exit }) => exit !== 0);
    return failed.length === 0 ? yes('') : no(`${failed.length} of ${SIX}: ${JSON.stringify(failed[0])}`);
  },
};
