import type { AgentEvent, RunRow } from '../../api/types.ts';
import { duration } from '../../base/format.ts';
import type { Lane } from '../../components/timeline/timeline.tsx';

/** One thing that happened in a run, put together from its events. */
export interface Step {
  readonly id: string;
  readonly kind: 'text' | 'thinking' | 'tool' | 'approval' | 'note';
  readonly at: number;
  end: number | null;
  title: string;
  body: string;
  input: unknown;
  state: 'running' | 'done' | 'failed' | 'approved' | 'denied';
}

type Loose = AgentEvent & Record<string, unknown>;

const words = (value: unknown): string => (typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, null, 2));

const NOTES: Readonly<Record<string, (event: Loose) => string>> = {
  rate_limited: () => 'The model slows the agent down; it goes on by itself.',
  context_compacted: (event) => `The context was shortened: ${words(event.summary)}`,
  retry: (event) => `Tried again, ${words(event.reason)}`,
  error: (event) => `${words(event.code)}: ${words(event.message)}`,
  crash: (event) => `The agent died: ${words(event.stderr)}`,
  interrupted: () => 'Interrupted.',
  aborted: () => 'Ended by its caller.',
  paused: () => 'Paused.',
  resumed: () => 'Goes on.',
  timeout: () => 'It took too long.',
};

/** Builds steps from events, one by one. */
export class StepList {
  readonly steps: Step[] = [];
  readonly #tools = new Map<string, Step>();
  #text: Step | undefined;
  #thinking: Step | undefined;

  add(event: AgentEvent): void {
    const loose = event as Loose; // events are a union of records; what is read here is checked by its type
    const at = typeof loose.timestamp === 'number' ? loose.timestamp : Date.parse(String(loose.timestamp));
    const note = NOTES[event.type];
    if (note !== undefined) this.#push({ id: `n${this.steps.length}`, kind: 'note', at, title: note(loose) });
    else if (event.type.startsWith('tool_')) this.#tool(loose, at);
    else if (event.type.startsWith('approval_')) this.#approval(loose, at);
    else this.#say(loose, at);
  }

  #push(step: Pick<Step, 'id' | 'kind' | 'at' | 'title'> & Partial<Step>): Step {
    const whole: Step = { end: null, body: '', input: undefined, state: 'running', ...step };
    this.steps.push(whole);
    return whole;
  }

  #say(event: Loose, at: number): void {
    if (event.type === 'text_delta') {
      this.#text ??= this.#push({ id: `t${this.steps.length}`, kind: 'text', at, title: '' });
      this.#text.body = words(event.accumulated) || this.#text.body + words(event.delta);
    } else if (event.type === 'message_stop') {
      const step =
        this.#text ?? (words(event.text) === '' ? undefined : this.#push({ id: `t${this.steps.length}`, kind: 'text', at, title: '' }));
      if (step !== undefined) Object.assign(step, { body: words(event.text) || step.body, end: at, state: 'done' });
      this.#text = undefined;
    } else if (event.type === 'thinking_delta' || event.type === 'thinking_stop') {
      this.#thinking ??= this.#push({ id: `k${this.steps.length}`, kind: 'thinking', at, title: 'Thinking' });
      this.#thinking.body = words(event.accumulated ?? event.thinking) || this.#thinking.body + words(event.delta);
      if (event.type === 'thinking_stop') {
        Object.assign(this.#thinking, { end: at, state: 'done' });
        this.#thinking = undefined;
      }
    }
  }

  #tool(event: Loose, at: number): void {
    const id = words(event.toolCallId);
    const known = this.#tools.get(id) ?? this.#push({ id: `c${id}`, kind: 'tool', at, title: words(event.toolName) });
    this.#tools.set(id, known);
    if (event.type === 'tool_call_ready') known.input = event.input;
    if (event.type === 'tool_result') Object.assign(known, { end: at, state: 'done', body: words(event.output) });
    if (event.type === 'tool_error') Object.assign(known, { end: at, state: 'failed', body: words(event.error) });
  }

  #approval(event: Loose, at: number): void {
    const id = `a${words(event.interactionId)}`;
    if (event.type === 'approval_request') {
      this.#push({ id, kind: 'approval', at, title: words(event.action), body: words(event.detail) });
      return;
    }
    const step = this.steps.find((known) => known.id === id);
    if (step !== undefined) Object.assign(step, { end: at, state: event.type === 'approval_granted' ? 'approved' : 'denied' });
  }
}

/** Lanes of a run: the model, the tools, and waiting for a person. Their sums are never added up, because they may overlap. */
export function runLanes(steps: readonly Step[], calls: readonly RunRow[], began: number, until: number): readonly Lane[] {
  const bars = (kind: Step['kind'], as: 'tool' | 'wait') =>
    steps
      .filter((step) => step.kind === kind)
      .map((step) => ({ from: step.at - began, to: (step.end ?? until) - began, kind: as, title: step.title }));
  const model = calls.map((call) => {
    const from = Date.parse(call.started_at) - began;
    return { from, to: from + (call.total_ms ?? until - began - from), kind: 'model' as const, title: call.upstream_model ?? '' };
  });
  const lane = (name: string, all: Lane['bars']): Lane => ({
    name,
    bars: all,
    sum: duration(all.reduce((sum, { from, to }) => sum + Math.max(0, to - from), 0)),
  });
  return [lane('Model', model), lane('Tools', bars('tool', 'tool')), lane('You', bars('approval', 'wait'))];
}
