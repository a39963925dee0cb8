import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { confiner, isObstacle } from '../../src/confinement/confiner.ts';
import { ESCAPES, escapeScript, layOutside, readEscapes } from '../support/escapes.ts';
import { no, notClaimed, type Scenario, yes } from './scenario.ts';

const COMMAND = 'bash escapes.sh > printed.txt';

/** The sentence that makes an agent run the script with its own shell tool, by what the tool takes. */
const TASKS: Readonly<Record<string, string>> = {
  claude: `call the tool Bash with ${JSON.stringify({ command: COMMAND, timeout: 300_000 })}`,
  codex: `call the tool exec_command with ${JSON.stringify({ cmd: COMMAND, yield_time_ms: 120_000 })}`,
  gemini: `call the tool run_shell_command with ${JSON.stringify({ command: COMMAND })}`,
  copilot: `call the tool bash with ${JSON.stringify({ command: COMMAND, description: 'look around', initial_wait: 300 })}`,
  opencode: `call the tool bash with ${JSON.stringify({ command: COMMAND, description: 'look around', timeout: 300_000 })}`,
  pi: `call the tool bash with ${JSON.stringify({ command: COMMAND, timeout: 300 })}`,
  omp: `call the tool bash with ${JSON.stringify({ command: COMMAND, timeout: 300 })}`,
  openclaw: `call the tool exec with ${JSON.stringify({ command: COMMAND, timeoutSeconds: 300 })}`,
  hermes: `call the tool terminal with ${JSON.stringify({ command: COMMAND, timeout: 300 })}`,
};

/** The ways out of a room, tried by a real agent with its own shell. */
export const escapes: Scenario = {
  name: 'escapes',
  about: 'in a room nothing gets out by the shell of the agent: files, processes, sockets, privileges, calls of the kernel',
  async play(stage) {
    const task = TASKS[stage.agent];
    if (task === undefined) return notClaimed('not tried with it');
    const found = await confiner.equipment();
    if (isObstacle(found)) return notClaimed(found.reason);
    const outside = await layOutside();
    try {
      const cwd = stage.workspace();
      writeFileSync(join(cwd, 'escapes.sh'), escapeScript(outside));
      const { result } = await stage.play({ prompt: task, cwd, sandbox: true, workspace: { mode: 'staged' }, approvalMode: 'yolo' });
      if (result.exitReason !== 'completed') return no(`${result.exitReason}: ${result.error?.message ?? ''}`);
      const printed = readFileSync(join(dirname(cwd), 'stages', result.runId, 'tree', 'printed.txt'), 'utf8');
      const { fell, tried, skipped } = readEscapes(printed);
      if (fell.length > 0) return no(`got out: ${fell.join(', ')}`);
      const missing = ESCAPES.length - tried - skipped.length;
      return missing === 0 ? yes(`${tried} tried, none got out`) : no(`${missing} of ${ESCAPES.length} were not tried`);
    } finally {
      outside.close();
    }
  },
};
