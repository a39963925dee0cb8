import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Json } from '../../base/json.ts';
import { packageVersion } from '../../base/own-files.ts';
import { AbpError } from '../../contract/errors.ts';
import { parseRunId } from '../../contract/run-id.ts';
import { fileSource } from '../../engines/replay/file-source.ts';
import { recordedFirst } from '../../engines/replay/transport.ts';
import { loadConfig } from '../../gateway/config.ts';
import type { Between } from '../../gateway/deployments.ts';
import { type RunningServer, startServer } from '../../gateway/server.ts';
import { openHome } from '../../home/home.ts';
import { clientOf, type ServerClient } from '../client.ts';
import type { Context } from '../command.ts';
import { CliError } from '../failure.ts';

export interface ExecOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly engine: string | undefined;
  readonly recordings?: { readonly file: string; readonly ask: boolean; readonly ignore: readonly string[] };
}

/** Where each vendor's SDK looks for its address, and what the address ends with; and for a key, without which it does not start. */
const SDK_ADDRESSES: Readonly<Record<string, string>> = {
  OPENAI_BASE_URL: '/v1',
  ANTHROPIC_BASE_URL: '',
  GOOGLE_GEMINI_BASE_URL: '',
};
const SDK_KEYS = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY'];
const NO_KEY = 'no-key-needed';

/** The command's calls: those that no recording answers, and the layer that looks for recordings. */
interface Calls {
  readonly missed: Set<string>;
  between: Between | undefined;
}

/** Runs a command beside a server of its own, which ends with it. The exit code is the command's. */
export async function execThroughServer(context: Context, options: ExecOptions): Promise<number> {
  const { io, configPath, homePath } = context;
  const { config } = loadConfig({ env: io.env, homePath, ...(configPath === undefined ? {} : { path: configPath }) });
  const parent = mkdtempSync(join(tmpdir(), 'abp-exec-'));
  const home = openHome({ path: join(parent, 'home') });
  const calls = callsOf(options);
  try {
    const server = await startServer({
      config: {
        ...config,
        server: { ...config.server, host: '127.0.0.1', port: 0 },
        auth: { ...config.auth, local: true },
        database: {},
        recording: { ...config.recording, default: 'full' },
      },
      home,
      version: packageVersion(),
      log: pino({ level: 'silent' }),
      ...(calls.between === undefined ? {} : { between: calls.between }),
    });
    try {
      const code = await runBeside(server, options, io.env);
      await report(context, { server, token: home.token, options, missed: calls.missed });
      return code;
    } finally {
      await server.close();
    }
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

function callsOf({ recordings }: ExecOptions): Calls {
  const missed = new Set<string>();
  if (recordings === undefined) return { missed, between: undefined };
  const { file, ask, ignore } = recordings;
  // A file that is still to be made answers nothing.
  const source = existsSync(file) ? fileSource(file, { sequence: true }) : { name: `the recordings of ${file}`, exact: none, recent: none };
  const onMiss = (runHex: string): void => void missed.add(runHex);
  const between: Between = ({ transport, splice, ...reach }, base) => ({
    ...reach,
    transport: recordedFirst(transport, { source, ignore, ask, base, onMiss }),
    // No recording answers a WebSocket, so there is none where no engine may be asked.
    ...(ask && splice !== undefined ? { splice } : {}),
  });
  return { missed, between };
}

const none = async (): Promise<readonly never[]> => [];

/** The command's exit code; that of a shell when a signal ended it. */
async function runBeside({ url }: RunningServer, { program, args, engine }: ExecOptions, env: NodeJS.ProcessEnv): Promise<number> {
  const base = engine === undefined ? url : `${url}/e/${engine}`;
  const addresses = Object.fromEntries(Object.entries(SDK_ADDRESSES).map(([name, path]) => [name, `${base}${path}`]));
  const keys = Object.fromEntries(SDK_KEYS.filter((name) => !env[name]).map((name) => [name, NO_KEY]));
  const child = spawn(program, args, { stdio: 'inherit', env: { ...env, ...keys, ...addresses, ABP_URL: url } });
  // A terminal sends Ctrl-C to the command as well; this process waits for it and then ends in order.
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, pass);
  try {
    const [code, signal] = await once(child, 'exit');
    return typeof code === 'number' ? code : 128 + (constants.signals[signal as NodeJS.Signals] ?? 0); // one of the two is set
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError('not_found', `${program} cannot be started: ${reason}`, { hint: 'Is it installed, and in PATH?' });
  } finally {
    for (const signal of signals) process.off(signal, pass);
  }
}

interface Done {
  readonly server: RunningServer;
  readonly token: string;
  readonly options: ExecOptions;
  readonly missed: ReadonlySet<string>;
}

/** Adds what was recorded to the file, and says so on the standard error; the standard output is the command's. */
async function report({ io, output }: Context, { server, token, options, missed }: Done): Promise<void> {
  const { recordings } = options;
  if (recordings === undefined || !recordings.ask || missed.size === 0) return;
  await server.gateway.keeper.settled();
  const client = clientOf({ url: server.url, pid: process.pid }, token);
  const target = openSync(recordings.file, 'a', 0o600);
  let added = 0;
  try {
    for (const hex of missed) {
      const line = await recordingOf(client, hex);
      if (line === undefined) continue;
      writeSync(target, `${JSON.stringify(line)}\n`);
      added += 1;
    }
  } finally {
    closeSync(target);
  }
  io.stderr.write(`${output.paint.faint(`abp exec: ${counted(added)} recorded in ${recordings.file}`)}\n`);
  const left = missed.size - added;
  if (left > 0)
    io.stderr.write(`${output.paint.warn(`abp exec: ${counted(left)} not recorded: the bodies passed unread, or no answer came`)}\n`);
}

const counted = (calls: number): string => `${calls} ${calls === 1 ? 'call' : 'calls'}`;

/** The line that the file gets for a run; undefined for a call whose bodies were not kept. */
async function recordingOf(client: ServerClient, hex: string): Promise<Json | undefined> {
  const run = parseRunId(hex);
  try {
    return run === undefined ? undefined : await client.call('GET', `/v1/recordings/${run}`);
  } catch (error) {
    if (AbpError.is(error) && error.code === 'not_found') return undefined;
    throw error;
  }
}
