import { isJsonObject, parseJsonObject } from '../../src/base/json.ts';
import { runCommand } from '../../src/base/subprocess.ts';
import { no, notClaimed, type Scenario, yes } from './scenario.ts';

const PROMPT = 'tell me a story';

/** How the user starts each agent for one prompt, after what `abp env` says it must be started with. */
const BY_HAND: Readonly<Record<string, readonly string[]>> = {
  claude: ['-p', PROMPT],
  codex: ['exec', '--skip-git-repo-check', PROMPT],
  gemini: ['--skip-trust', '-p', PROMPT],
  copilot: ['-p', PROMPT],
  opencode: ['run', PROMPT],
  pi: ['-p', PROMPT],
  omp: ['-p', PROMPT],
  hermes: ['-q', PROMPT],
};

export const byHand: Scenario = {
  name: 'env',
  about: 'started by hand with the variables of `abp env`, it answers through the gateway',
  async play(stage) {
    const words = BY_HAND[stage.agent];
    if (words === undefined) return notClaimed('its own screen is what the variables are for');
    const said = await stage.abp(['env', stage.agent, '--engine', 'sim', '--json'], { ABP_HOME: stage.abpHome });
    const { runId, env, args } = parseJsonObject(said.out) ?? {};
    if (!isJsonObject(env) || !Array.isArray(args)) return no(said.err);
    const variables = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));
    const command = stage.agents.adapters.get(stage.agent).cliCommand;
    const { stdout, stderr } = await runCommand(command, [...args.map(String), ...words], {
      cwd: stage.workspace(),
      env: { ...stage.env, ...variables },
      timeoutMs: stage.patienceMs,
    });
    if (!stdout.includes(`sim heard: ${PROMPT}`)) return no(`${stdout.slice(-200)} ${stderr.slice(-200)}`);
    const calls = await stage.settledCalls(String(runId));
    return calls.length > 0 && calls.every(({ status }) => status === 'completed') ? yes('') : no(`${calls.length} calls under the run`);
  },
};
