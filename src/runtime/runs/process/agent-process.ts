import type { Adapter, Command, Dialogue, EventDraft, Heard, Outcome, WaitingTool } from '../../../adapters/adapter.ts';
import { type ChildProcess, type Exit, type OutputSource, type ProcessSpec, startProcess } from '../../../base/child-process.ts';
import { type LineFault, TextTail } from '../../../base/line-splitter.ts';
import { AgentMuxError } from '../../../contract/runs/run-error.ts';
import { InteractionIds } from '../dialogue/interaction-ids.ts';
import type { Prepared } from '../prepare.ts';

const UNREAD_CHARACTERS = 8 * 1024;
/** Characters of error output that are told as events of a run. */
const MOST_ERRORS = 4 * 1024 * 1024;

/** How one start of an agent went. */
export interface AgentEnd {
  readonly exit: Exit;
  readonly outcome: Outcome;
  /** Its error output, or what else it said that nobody could read. */
  readonly stderr: string;
}

/** Who listens to an agent. */
export interface Listening {
  /** How long an agent that should end may take. */
  readonly graceMs: number;
  hear(drafts: readonly EventDraft[]): void;
  /** Tools wait for a hook. */
  wait(tools: readonly WaitingTool[]): void;
  /** The agent has answered; whether it has been given more to do. */
  goesOn(): boolean;
}

/** One process of an agent and the conversation with it. */
export class AgentProcess {
  readonly #child: ChildProcess;
  readonly #dialogue: Dialogue;
  readonly #ids = new InteractionIds();
  readonly #listening: Listening;
  /** The end of what it printed that is no event of its protocol. */
  readonly #unread = new TextTail(UNREAD_CHARACTERS);
  #force: NodeJS.Timeout | undefined;
  #watching: NodeJS.Timeout | undefined;
  #broken = false;
  #errors = 0;
  /** A line that another thread is still reading; later lines wait for it, so that events keep their order. */
  #later: Promise<void> | undefined;
  readonly end: Promise<AgentEnd>;

  private constructor(child: ChildProcess, dialogue: Dialogue, listening: Listening) {
    this.#child = child;
    this.#dialogue = dialogue;
    this.#listening = listening;
    this.end = child.exit.then(async (exit) => {
      await this.#allRead();
      clearTimeout(this.#force);
      clearInterval(this.#watching);
      const { events, outcome } = dialogue.end({ ...exit, stderr: child.stderr });
      listening.hear(this.#ids.shown(events));
      // Some agents say on their standard output why they end.
      return { exit, outcome, stderr: child.stderr.trim() === '' ? this.#unread.text : child.stderr };
    });
  }

  /** Writes the files of the run and starts its agent. */
  static async start(adapter: Adapter, prepared: Prepared, listening: Listening): Promise<AgentProcess> {
    const { plan, spec, folder } = prepared;
    const start = started(prepared);
    const dialogue = adapter.dialogue(plan);
    let agent: AgentProcess | undefined;
    // Output may come before `start` has returned.
    const early: (() => void)[] = [];
    const heard = (hear: (agent: AgentProcess) => void): void => {
      if (agent === undefined) early.push(() => agent !== undefined && hear(agent));
      else hear(agent);
    };
    const child = await startProcess(
      {
        ...start,
        args: spec.args,
        cwd: plan.cwd,
        stdin: spec.input === undefined ? spec.stdin : 'open',
        mode: spec.pty ? 'pty' : 'pipe',
        ...linesOf(dialogue, heard),
      },
      (line, source) => heard((one) => one.#line(line, source)),
    ).catch((error: unknown) => {
      throw new AgentMuxError(
        'SPAWN_ERROR',
        `${start.command} could not be started: ${error instanceof Error ? error.message : String(error)}`,
      );
    });
    folder.remember(child.pid);
    agent = new AgentProcess(child, dialogue, listening);
    for (const line of dialogue.begin()) agent.#write(line);
    if (spec.input !== undefined) {
      child.write(spec.input);
      child.closeInput();
    }
    for (const hear of early) hear();
    agent.#watch();
    return agent;
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Bytes came that are no line. */
  fault(kind: LineFault): void {
    const { strict } = this.#dialogue;
    if (strict !== undefined) this.#hear(strict.fault(kind));
  }

  /** Whether the agent could be told. */
  tell(command: Command): boolean {
    const lines = this.#dialogue.say(this.#ids.own(command));
    return lines?.every((line) => this.#write(line)) ?? false;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.signal(signal);
  }

  /** A sidecar that hears a cancel may end by itself; then SIGTERM to the group, which must be awake to take it; then SIGKILL. */
  stop(): void {
    clearTimeout(this.#force);
    this.#child.signal('SIGCONT');
    const { graceMs } = this.#listening;
    const lines = this.#broken ? undefined : this.#dialogue.cancel?.();
    if (lines?.every((line) => this.#write(line)) !== true) this.#terminate(graceMs);
    else this.#force = setTimeout(() => this.#terminate(graceMs / 2), graceMs / 2);
  }

  #terminate(graceMs: number): void {
    this.#child.signal('SIGTERM');
    this.#child.signal('SIGCONT');
    this.#force = setTimeout(() => this.#child.signal('SIGKILL'), graceMs);
  }

  /** Asks the dialogue again and again whether its peer is late. */
  #watch(): void {
    const { watch } = this.#dialogue;
    if (watch !== undefined) this.#watching = setInterval(() => this.#looked(watch.look()), watch.everyMs);
  }

  /** To have looked is not to have heard something: silence goes on. */
  #looked(heard: Heard): void {
    if (heard.events.length > 0 || heard.broken === true) this.#hear(heard);
    else for (const text of heard.send ?? []) this.#write(text);
  }

  #line(line: string, source: OutputSource): void {
    if (source === 'stderr') {
      this.#logged(line);
      return;
    }
    this.#hear(this.#dialogue.line(line));
  }

  /** Its error output is told as it comes, up to a measure; the end of it is in the result whatever it has written. */
  #logged(line: string): void {
    if (this.#errors > MOST_ERRORS || line.trim() === '') return;
    this.#errors += line.length;
    const rest = `(it has written more than ${MOST_ERRORS} characters; the rest is left out here)`;
    this.#listening.hear([{ type: 'log', source: 'stderr', line: this.#errors > MOST_ERRORS ? rest : line }]);
  }

  #hear({ events, send = [], waiting = [], done, broken, later }: Heard): void {
    if (later !== undefined) this.#later = later.then((heard) => this.#hear(heard));
    for (const event of events) if (event.type === 'log') this.#unread.add(`${event.line}\n`);
    for (const text of send) this.#write(text);
    this.#listening.hear(this.#ids.shown(events));
    this.#listening.wait(waiting);
    if (broken === true && !this.#broken) {
      this.#broken = true;
      clearInterval(this.#watching);
      this.stop();
    } else if (done === true && !this.#listening.goesOn()) this.finish();
  }

  /** One line that takes long may be followed by another one. */
  async #allRead(): Promise<void> {
    while (this.#later !== undefined) {
      const later = this.#later;
      this.#later = undefined;
      await later;
    }
  }

  /** The agent has done its work. One that does not end by itself is ended. */
  finish(): void {
    this.#child.closeInput();
    this.#force ??= setTimeout(() => this.#terminate(this.#listening.graceMs), this.#listening.graceMs);
  }

  #write(line: string): boolean {
    return this.#child.write(line.endsWith('\n') ? line : `${line}\n`);
  }
}

/** Rules for the lines of the output, for dialogues that are strict about them. */
function linesOf({ strict }: Dialogue, heard: (hear: (agent: AgentProcess) => void) => void): Pick<ProcessSpec, 'lines'> {
  if (strict === undefined) return {};
  return { lines: { mostBytes: strict.mostBytes, fault: (kind) => heard((one) => one.fault(kind)) } };
}

/** Writes the files of a run; the command that is started, behind a barrier where the run has a room. */
export function started({ spec, command, env, folder, ground }: Prepared): Pick<ProcessSpec, 'command' | 'barrier' | 'env'> {
  const { room } = ground;
  folder.write(spec.files);
  if (room === undefined) {
    folder.link(spec.links, env);
    return { command, env };
  }
  room.link(folder.path, spec.links);
  const behind = room.barrier(command, env, { folder: folder.path, shows: spec.shows, wants: spec.wants });
  return { command: behind.file, barrier: behind.barrier, env: behind.env };
}
