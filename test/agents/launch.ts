import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { markedProcesses } from '../../src/base/process-table.ts';
import { RUN_MARK } from '../../src/runtime/runs/process/environment.ts';
import { digests, filesWith, put, textOf } from './files.ts';
import { no, notClaimed, type Scenario, type Verdict, yes } from './scenario.ts';
import { type AgentScreen, SCREENS } from './screens.ts';
import type { Stage } from './stage.ts';
import type { Terminal } from './terminal.ts';

const PROMPT = 'tell me a story';
/** What `sim` says to it; the words before the prompt are nowhere in what was typed. */
const ANSWER = /sim heard: [^\n]*tell me a story/;
/** Between keys: a program that gets several at once takes them for pasted text. */
const KEYSTROKE_MS = 700;
const QUIT_MS = 20_000;
const SHOWN_MS = 5000;
const MOST_TRIES = 4;

export const launch: Scenario = {
  name: 'launch',
  about:
    'its own screen, in a terminal: a typed prompt is answered on it through the gateway; when it is left, its key is dead, no process is left, and the configuration of the user is as it was',
  async play(stage) {
    const screen = SCREENS[stage.agent];
    if (screen === undefined) return notClaimed('no screen');
    for (const [path, text] of Object.entries({ ...screen.own, ...screen.state })) put(join(stage.home, path), text);
    const before = digests(stage.home);
    const terminal = await stage.terminal(['launch', stage.agent, '--engine', 'sim'], stage.workspace());
    try {
      return await held(stage, screen, terminal, before);
    } finally {
      terminal.close();
    }
  },
};

async function held(stage: Stage, screen: AgentScreen, terminal: Terminal, before: ReadonlyMap<string, string>): Promise<Verdict> {
  const asked = await reached(screen, terminal, stage.patienceMs);
  if (asked === undefined) return no(`not ready: ${lastLines(terminal)}`);
  const { run, key } = insides(stage.home);
  if (run === undefined || key === undefined) return no('no process of it has a run and a key');
  if ((await stage.statusOf(key)) !== 200) return no('its key does not work while it runs');
  await typed(terminal, PROMPT);
  if (!(await terminal.shows(ANSWER, stage.patienceMs))) return no(`no answer: ${lastLines(terminal)}`);
  await typed(terminal, screen.quit);
  if (!(await terminal.ends(QUIT_MS))) return no(`does not end: ${lastLines(terminal)}`);
  const problems = await aftermath(stage, { run, key, before, code: await terminal.exit, said: terminal.text });
  return problems.length === 0
    ? yes(asked === 0 ? '' : `asks ${asked} ${asked === 1 ? 'question' : 'questions'} first`)
    : no(problems.join('; '));
}

/** Answers what is asked until the agent waits for a prompt; the number of questions, undefined when it never came to wait. */
async function reached({ questions, ready }: AgentScreen, terminal: Terminal, withinMs: number): Promise<number | undefined> {
  const open = [...questions];
  const until = performance.now() + withinMs;
  while (performance.now() < until && !terminal.ended) {
    const at = open.findIndex(({ shows }) => shows.test(terminal.text));
    const [question] = at === -1 ? [] : open.splice(at, 1);
    if (question === undefined && ready.test(terminal.text)) return questions.length - open.length;
    await sleep(KEYSTROKE_MS);
    for (const key of question?.keys ?? []) {
      terminal.type(key);
      await sleep(KEYSTROKE_MS);
    }
  }
  return undefined;
}

/** Types until the screen shows it: what has just been drawn need not listen yet. */
async function typed(terminal: Terminal, text: string): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    await sleep(2 * KEYSTROKE_MS);
    terminal.type(text);
    if (await terminal.shows(new RegExp(text), SHOWN_MS)) break;
  }
  await sleep(KEYSTROKE_MS);
  terminal.type('\r');
}

interface Left {
  readonly run: string;
  readonly key: string;
  readonly before: ReadonlyMap<string, string>;
  readonly code: number;
  readonly said: string;
}

/** What is wrong after the end. */
async function aftermath(stage: Stage, { run, key, before, code, said }: Left): Promise<string[]> {
  const receipt = await stage.receipt(run);
  const calls = await stage.calls(run);
  const bodies = await Promise.all(calls.map((call) => stage.sent(call)));
  const changed = Object.keys(SCREENS[stage.agent]?.own ?? {}).filter((path) => before.get(path) !== digests(stage.home).get(path));
  const backend =
    typeof receipt.backend === 'object' && receipt.backend !== null && 'id' in receipt.backend ? receipt.backend.id : undefined;
  const checks: readonly (readonly [boolean, string])[] = [
    [code === 0, `exit code ${code}`],
    [said.includes(run), 'the run is not named at the end'],
    [receipt.plane === 'run' && receipt.status === 'completed', `the receipt of the run says ${receipt.plane} ${receipt.status}`],
    [backend === `adapter:${stage.agent}`, `the receipt names ${String(backend)}`],
    [bodies.some((body) => JSON.stringify(body).includes(PROMPT)), 'no call under the run holds the prompt'],
    [calls.every(({ plane, status }) => plane === 'gateway' && status === 'completed'), 'a call did not complete'],
    [(await stage.statusOf(key)) === 401, 'its key still works'],
    [markedProcesses(RUN_MARK, run).length === 0, 'a process is left'],
    [!existsSync(join(stage.abpHome, 'runs', run)), 'the folder of the run is left'],
    [changed.length === 0, `changed ${changed.join(', ')}`],
    [filesWith(stage.home, key).length === 0, `its key stands in ${filesWith(stage.home, key).join(', ')}`],
  ];
  return checks.filter(([good]) => !good).map(([, problem]) => problem);
}

/** The run and the key in the environment of the processes that have this home. */
function insides(home: string): { readonly run?: string; readonly key?: string } {
  const text = markedProcesses('HOME', home)
    .map((pid) => textOf(`/proc/${pid}/environ`))
    .join('\0');
  const run = new RegExp(`${RUN_MARK}=(run_[0-9a-f]{32})`).exec(text)?.[1];
  const key = /abp_[A-Za-z0-9_-]{20,}/.exec(text)?.[0];
  return { ...(run !== undefined && { run }), ...(key !== undefined && { key }) };
}

function lastLines(terminal: Terminal): string {
  return terminal.text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-6)
    .join(' / ');
}
