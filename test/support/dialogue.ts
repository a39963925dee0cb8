import type { Dialogue, EventDraft, Outcome, ProcessExit, SpawnPlan } from '../../src/adapters/adapter.ts';
import type { AttachedFile } from '../../src/adapters/attachments.ts';
import { AgentEvent } from '../../src/contract/runs/event.ts';
import type { RunOptions } from '../../src/contract/runs/run-options.ts';

/** A plan of a run without a gateway, with nothing asked but what a test says. */
export function planOf(agent: string, options: Partial<RunOptions> = {}, plan: Partial<SpawnPlan> = {}): SpawnPlan {
  return {
    options: { agent, prompt: 'say hello', ...options },
    thinking: {},
    runFolder: '/run',
    cwd: '/project',
    answerable: false,
    interactive: false,
    ...plan,
  };
}

/** A file that is attached to the prompt of a plan, as the run engine has read it. */
export function attached(kind: AttachedFile['kind'], name: string, text = 'ABC'): AttachedFile {
  const mimeType = { image: 'image/png', pdf: 'application/pdf', text: 'text/plain', other: 'application/zip' }[kind];
  return { kind, mimeType, name, path: `/run/attachments/${name}`, bytes: Buffer.from(text) };
}

/** A gateway for plans; nothing listens there. */
export const GATEWAY = { origin: 'http://127.0.0.1:8088', engine: 'sim', key: 'abp_run_key' } as const;

/** What a dialogue made of lines. */
export interface Told {
  readonly events: readonly EventDraft[];
  /** Lines it wanted to write, its first ones included. */
  readonly sent: readonly string[];
  /** It said that the agent waits for nothing but more input. */
  readonly done: boolean;
  readonly outcome: Outcome;
}

/** Plays lines to a dialogue to their end. Each event must be one of the contract once the engine has added its fields. */
export function told(dialogue: Dialogue, lines: readonly string[], exit: ProcessExit = { code: 0, signal: null }): Told {
  const heard = [{ events: [], send: dialogue.begin() }, ...lines.map((line) => dialogue.line(line))];
  const { events: last, outcome } = dialogue.end(exit);
  const events = [...heard.flatMap((one) => one.events), ...last];
  for (const event of events) AgentEvent.parse({ runId: 'run_0', agent: 'a', timestamp: 0, ...accumulations(event), ...event });
  return { events, sent: heard.flatMap((one) => one.send ?? []), done: heard.some((one) => 'done' in one && one.done === true), outcome };
}

function accumulations(event: EventDraft): Record<string, string> {
  if (event.type === 'text_delta' || event.type === 'thinking_delta') return { accumulated: '' };
  return event.type === 'tool_call_start' || event.type === 'tool_input_delta' ? { inputAccumulated: '' } : {};
}

/** The types of events in order, deltas left out. */
export function outline(events: readonly EventDraft[]): string[] {
  return events.map(({ type }) => type).filter((type) => !type.endsWith('_delta'));
}
