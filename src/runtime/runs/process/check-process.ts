import { startProcess } from '../../../base/child-process.ts';
import { TextTail } from '../../../base/line-splitter.ts';
import type { Artifact, CheckRecord } from '../../../contract/receipts/parts.ts';
import type { Stage } from '../../workspaces/stages.ts';
import type { RunRoom } from '../ground/run-room.ts';
import type { RunFolder } from './run-folder.ts';

/** The end of what a check says is kept up to this. */
const LOG_CHARACTERS = 256 * 1024;
const CHECK_MS = 600_000;

/** A command that judges what a run has made. */
export interface Check {
  readonly command: string;
  readonly timeoutMs?: number | undefined;
  readonly stage: Stage;
  /** The room of the run; absent where the run has none. */
  readonly room?: RunRoom | undefined;
  /** The workspace as the agent called it. */
  readonly cwd: string;
  readonly folder: RunFolder;
  readonly env: Readonly<Record<string, string>>;
  /** Ends the check. */
  readonly stopped?: AbortSignal | undefined;
}

export interface Checked {
  readonly check: CheckRecord;
  readonly log: Artifact;
}

type Ended = Pick<CheckRecord, 'passed' | 'exit_code' | 'reason'>;

/**
 * Runs the check in a copy of the work, as confined as the agent was: it sees what the agent made, and leaves no trace in what is applied.
 * A check that cannot be run has not passed, and says why.
 */
export async function runCheck(check: Check): Promise<Checked> {
  const began = performance.now();
  const said = new TextTail(LOG_CHARACTERS);
  const ended = await judged(check, said).catch(
    (error: unknown): Ended => ({
      passed: false,
      exit_code: null,
      reason: `it could not be started: ${error instanceof Error ? error.message : String(error)}`,
    }),
  );
  return {
    check: { command: check.command, ...ended, ms: Math.round(performance.now() - began) },
    log: check.stage.keepCheckLog(said.text),
  };
}

async function judged(check: Check, said: TextTail): Promise<Ended> {
  if (check.stopped?.aborted === true) return CANCELLED;
  const copy = await check.stage.copyForCheck();
  try {
    return await watched(check, copy.tree, said);
  } finally {
    await copy.remove();
  }
}

const CANCELLED: Ended = { passed: false, exit_code: null, reason: 'cancelled' };

async function watched({ command, timeoutMs = CHECK_MS, room, cwd, folder, env, stopped }: Check, tree: string, said: TextTail) {
  const [shell, flag] = process.platform === 'win32' ? (['cmd.exe', '/c'] as const) : (['/bin/sh', '-c'] as const);
  const behind = room?.barrier(shell, env, { folder: folder.path, source: tree });
  const start = behind === undefined ? { command: shell, cwd: tree } : { command: behind.file, barrier: behind.barrier, cwd };
  const child = await startProcess({ ...start, args: [flag, command], env, stdin: 'closed', mode: 'pipe' }, (line) =>
    said.add(`${line}\n`),
  );
  folder.remember(child.pid);
  let reason: string | null = null;
  const end = (why: string): void => {
    reason ??= why;
    child.signal('SIGKILL');
  };
  const onStopped = (): void => end('cancelled');
  const timer = setTimeout(() => end('timeout'), timeoutMs);
  stopped?.addEventListener('abort', onStopped);
  if (stopped?.aborted === true) onStopped();
  const { code, signal } = await child.exit;
  clearTimeout(timer);
  stopped?.removeEventListener('abort', onStopped);
  const died = code === null ? `it was ended by ${signal ?? 'a signal'}` : null;
  return { passed: reason === null && code === 0, exit_code: reason === null ? code : null, reason: reason ?? died };
}
