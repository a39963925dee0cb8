import type { AgentEvent } from '../../api/types.ts';

/** A question that somebody had to answer before a step went on. */
export interface Asked {
  readonly id: string;
  readonly at: number;
  end: number | null;
  state: 'waiting' | 'approved' | 'denied';
  reason: string;
}

/** A file that a step changed, with the lines that came and went. */
export interface FileChange {
  readonly path: string;
  readonly what: 'new' | 'changed' | 'gone';
  readonly added: number;
  readonly removed: number;
}

/** One thing that happened in a run, put together from its events. */
export interface Step {
  readonly id: string;
  readonly kind: 'turn' | 'text' | 'thinking' | 'tool' | 'question' | 'note';
  readonly at: number;
  end: number | null;
  title: string;
  body: string;
  input: unknown;
  state: 'running' | 'done' | 'failed';
  asked: Asked | null;
  /** The exit code of a command; null where it has none. */
  exit: number | null | undefined;
  diff: string;
  change: FileChange | null;
}

type Loose = AgentEvent & Record<string, unknown>;

const words = (value: unknown): string => (typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, null, 2));

const NOTES: Readonly<Record<string, (event: Loose) => string>> = {
  rate_limited: () => 'The model slows the agent down; it goes on by itself.',
  context_limit_warning: (event) => `The context is ${Math.round(Number(event.pctUsed))} % full.`,
  context_compacted: (event) => `The context was shortened: ${words(event.summary)}`,
  retry: (event) => `Tried again, ${words(event.reason)}`,
  error: (event) => `${words(event.code)}: ${words(event.message)}`,
  auth_error: (event) => `${words(event.message)} ${words(event.guidance)}`,
  rate_limit_error: (event) => words(event.message),
  context_exceeded: () => 'The context is full.',
  turn_limit: (event) => `All ${words(event.maxTurns)} turns are used.`,
  crash: (event) => `The agent died: ${words(event.stderr)}`,
  interrupted: () => 'Interrupted.',
  aborted: () => 'Ended by its caller.',
  paused: () => 'Paused.',
  resumed: () => 'Goes on.',
  timeout: () => 'It took too long.',
  subagent_spawn: (event) => `Starts ${words(event.agentName)}: ${words(event.prompt)}`,
  subagent_error: (event) => `${words(event.agentName)} failed: ${words(event.error)}`,
  skill_invoked: (event) => `Uses the skill ${words(event.skillName)}.`,
};

/** How many lines a text has; the end of the last one begins no new one. */
function linesIn(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}

/** The lines that a diff adds and takes away. */
function linesOf(diff: string): { readonly added: number; readonly removed: number } {
  const lines = diff.split('\n');
  const many = (sign: string): number => lines.filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length;
  return { added: many('+'), removed: many('-') };
}

function textIn(input: unknown, name: string): string {
  const value: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, name) : undefined;
  return typeof value === 'string' ? value : '';
}

/** Builds steps from events, one by one. */
export class StepList {
  readonly steps: Step[] = [];
  readonly #tools = new Map<string, Step>();
  readonly #asked = new Map<string, Asked>();
  #text: Step | undefined;
  #thinking: Step | undefined;
  /** The tool whose effects are being told. */
  #tool: Step | undefined;

  add(event: AgentEvent): void {
    const loose = event as Loose; // events are a union of records; what is read here is checked by its type
    const at = typeof loose.timestamp === 'number' ? loose.timestamp : Date.parse(String(loose.timestamp));
    const note = NOTES[event.type];
    if (note !== undefined) this.#push({ kind: 'note', at, title: note(loose), end: at, state: 'done' });
    else if (event.type === 'turn_start') this.#turn(Number(loose.turnIndex) + 1, at);
    else if (event.type.startsWith('tool_')) this.#called(loose, at);
    else if (event.type.startsWith('approval_') || event.type === 'input_required') this.#question(loose, at);
    else if (event.type.startsWith('file_') || event.type === 'shell_exit') this.#effect(loose);
    else this.#say(loose, at);
  }

  #push(step: Pick<Step, 'kind' | 'at' | 'title'> & Partial<Step>): Step {
    const id = `${step.kind}-${this.steps.length}`;
    const none = { end: null, body: '', input: undefined, state: 'running', asked: null, exit: undefined, diff: '', change: null } as const;
    const whole: Step = { id, ...none, ...step };
    this.steps.push(whole);
    return whole;
  }

  /** Agents count a message as a turn; only those that begin with somebody’s words are told as one. */
  #turn(number: number, at: number): void {
    if (!this.steps.some(({ kind }) => kind === 'turn')) this.#push({ kind: 'turn', at, title: `Turn ${number}` });
  }

  #say(event: Loose, at: number): void {
    if (event.type === 'text_delta') {
      this.#text ??= this.#push({ kind: 'text', at, title: '' });
      this.#text.body = words(event.accumulated) || this.#text.body + words(event.delta);
    } else if (event.type === 'message_stop') {
      const step = this.#text ?? (words(event.text) === '' ? undefined : this.#push({ kind: 'text', at, title: '' }));
      if (step !== undefined) Object.assign(step, { body: words(event.text) || step.body, end: at, state: 'done' });
      this.#text = undefined;
    } else if (event.type === 'thinking_delta' || event.type === 'thinking_stop') {
      this.#thinking ??= this.#push({ kind: 'thinking', at, title: 'Thinking' });
      this.#thinking.body = words(event.accumulated ?? event.thinking) || this.#thinking.body + words(event.delta);
      if (event.type === 'thinking_stop') {
        Object.assign(this.#thinking, { end: at, state: 'done' });
        this.#thinking = undefined;
      }
    }
  }

  #called(event: Loose, at: number): void {
    const id = words(event.toolCallId);
    const known = this.#tools.get(id) ?? this.#push({ kind: 'tool', at, title: words(event.toolName) });
    this.#tools.set(id, known);
    this.#tool = known;
    if (event.type === 'tool_call_ready') known.input = event.input;
    if (event.type === 'tool_result') Object.assign(known, { end: at, state: 'done', body: words(event.output) });
    if (event.type === 'tool_error') Object.assign(known, { end: at, state: 'failed', body: words(event.error) });
  }

  #question(event: Loose, at: number): void {
    const id = words(event.interactionId);
    const known = this.#asked.get(id);
    if (event.type === 'approval_request' || event.type === 'input_required') {
      const asked: Asked = { id, at, end: null, state: 'waiting', reason: '' };
      this.#asked.set(id, asked);
      const step = this.#tools.get(words(event.toolCallId));
      if (step === undefined)
        this.#push({ kind: 'question', at, title: words(event.question ?? event.action), body: words(event.detail), asked });
      else step.asked = asked;
    } else if (known !== undefined) {
      Object.assign(known, { end: at, state: event.type === 'approval_granted' ? 'approved' : 'denied', reason: words(event.reason) });
    }
  }

  /** What a tool did to a file or by a command belongs to the call that did it. */
  #effect(event: Loose): void {
    const step = this.#tool;
    if (step === undefined) return;
    const path = words(event.path);
    if (event.type === 'shell_exit') step.exit = typeof event.exitCode === 'number' ? event.exitCode : null;
    if (event.type === 'file_patch') {
      step.diff = words(event.diff);
      step.change = { path, what: 'changed', ...linesOf(step.diff) };
    }
    if (event.type === 'file_create' || event.type === 'file_write') {
      const what = event.type === 'file_create' ? 'new' : 'changed';
      step.change = { path, what, added: linesIn(textIn(step.input, 'content')), removed: 0 };
    }
    if (event.type === 'file_delete') step.change = { path, what: 'gone', added: 0, removed: 0 };
  }
}

/** The files that the steps changed, each once. */
export function filesOf(steps: readonly Step[]): readonly FileChange[] {
  const files = new Map<string, FileChange>();
  for (const { change } of steps) {
    if (change === null) continue;
    const before = files.get(change.path);
    const sum = { added: (before?.added ?? 0) + change.added, removed: (before?.removed ?? 0) + change.removed };
    files.set(change.path, { ...change, ...sum, what: before?.what === 'new' ? 'new' : change.what });
  }
  return [...files.values()];
}
