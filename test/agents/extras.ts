import { join } from 'node:path';
import { parseJsonObject } from '../../src/base/json.ts';
import { markedProcesses } from '../../src/base/process-table.ts';
import { runCommand } from '../../src/base/subprocess.ts';
import { listReceipts } from '../../src/store/receipts/receipts.ts';
import type { InstallableAgent } from './catalogue.ts';
import { put, textOf } from './files.ts';
import { no, type Verdict, yes } from './scenario.ts';
import { Stage } from './stage.ts';

const RUN_MS = 120_000;
const MODEL = 'default';

/** Where such an agent is told to send its model calls. */
interface Address {
  /** Of an OpenAI-compatible server, with `/v1`. */
  readonly url: string;
  readonly key: string;
}

/** A coding agent that has no adapter: pointed at the gateway by its own settings, as any program can be. */
export interface ExtraAgent extends InstallableAgent {
  readonly name: string;
  /** How it is told, for people. */
  readonly told: string;
  env(address: Address): Readonly<Record<string, string>>;
  /** Files of its configuration, below the home of the user. */
  files(address: Address): Readonly<Record<string, string>>;
  /** A command that it wants once before. */
  setup?(address: Address): readonly string[];
  args(prompt: string): readonly string[];
}

export const EXTRAS: readonly ExtraAgent[] = [
  {
    agent: 'qwen',
    name: 'Qwen Code',
    from: 'npm',
    packages: ['@qwen-code/qwen-code@0.24.4'],
    patienceMs: RUN_MS,
    told: '`OPENAI_BASE_URL`, `OPENAI_API_KEY`, `OPENAI_MODEL`',
    env: ({ url, key }) => ({ OPENAI_BASE_URL: url, OPENAI_API_KEY: key, OPENAI_MODEL: MODEL }),
    files: () => ({}),
    args: (prompt) => [prompt, '--auth-type', 'openai', '--approval-mode', 'yolo'],
  },
  {
    agent: 'droid',
    name: 'Factory Droid',
    from: 'npm',
    packages: ['droid@0.215.0'],
    patienceMs: RUN_MS,
    told: '`customModels` in `~/.factory/settings.json`, and any text in `FACTORY_API_KEY`',
    env: () => ({ FACTORY_API_KEY: 'fk-none' }),
    files: ({ url, key }) => ({
      '.factory/settings.json': JSON.stringify({
        customModels: [
          { model: MODEL, id: 'custom:abp-0', baseUrl: url, apiKey: key, provider: 'generic-chat-completion-api', maxOutputTokens: 8000 },
        ],
      }),
    }),
    args: (prompt) => ['exec', '--auto', 'high', '-m', 'custom:abp-0', prompt],
  },
  {
    agent: 'cline',
    name: 'Cline',
    from: 'npm',
    packages: ['cline@3.0.65'],
    patienceMs: RUN_MS,
    told: '`cline auth openai-compatible -b URL -k KEY -m MODEL`',
    env: () => ({}),
    files: () => ({}),
    setup: ({ url, key }) => ['auth', 'openai-compatible', '-k', key, '-m', MODEL, '-b', url],
    args: (prompt) => ['--json', prompt],
  },
];

/** Lets it write a file. */
export async function triedExtra(extra: ExtraAgent, path: string): Promise<{ readonly version: string; readonly verdict: Verdict }> {
  const stage = await Stage.open(extra.agent, path, extra.patienceMs);
  try {
    const made = await stage.abp(['keys', 'create', extra.name, '--engine', 'sim', '--json'], { ABP_HOME: stage.abpHome });
    const key = parseJsonObject(made.out);
    const address = { url: `${stage.url}/e/sim/v1`, key: String(key?.secret) };
    for (const [file, text] of Object.entries(extra.files(address))) put(join(stage.home, file), text);
    const cwd = stage.workspace();
    const run = (args: readonly string[]) =>
      runCommand(extra.agent, args, { cwd, env: { ...stage.env, ...extra.env(address) }, timeoutMs: RUN_MS });
    const { stdout: version } = await run(['--version']);
    if (extra.setup !== undefined) await run(extra.setup(address));
    const { code, stdout, stderr } = await run(extra.args('write the text over and out into the file out.txt'));
    const { items } = await listReceipts(stage.store, { plane: 'gateway', limit: 100 });
    const refused = items.map(({ document }) => document).filter(({ status }) => status !== 'completed');
    const good = textOf(join(cwd, 'out.txt')).trim() === 'over and out' && items.length > 0 && refused.length === 0;
    const said = `exit code ${code}; ${items.length} calls, ${refused.length} refused; ${(stderr || stdout).slice(-300)}`;
    return {
      version: /\d+\.\d+\.\d+/.exec(version)?.[0] ?? '-',
      verdict: good ? yes(`${items.length} calls`) : no(said),
    };
  } finally {
    // One of them leaves a helper behind.
    for (const pid of markedProcesses('HOME', stage.home)) process.kill(pid, 'SIGKILL');
    await stage.close();
  }
}
