import { isJsonObject, type Json, type JsonObject, listIn, objectIn } from '../../base/json.ts';
import type { RunId } from '../../contract/run-id.ts';
import { turnOfRun } from '../../platform/ids.ts';
import { listEvents } from '../../store/agent-plane/session-events.ts';
import { getTurn } from '../../store/agent-plane/turns.ts';
import { readRunEvents } from '../../store/runs/run-events.ts';
import { getRun } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import { firstLine, NO_WORDS, type SaidCall, type Words } from './words.ts';

/** Events of a run that a report looks at. */
const MOST_EVENTS = 10_000;

const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Words of a run of a coding agent, from its row and its events. */
export async function wordsOfRun(store: Store, run: RunId): Promise<Words> {
  const row = await getRun(store, run);
  if (row === undefined) return NO_WORDS;
  const { prompt } = row.options;
  const words = Array.isArray(prompt) ? prompt.map(textIn).join('\n') : textIn(prompt);
  return { prompt: firstLine(words), session: textIn(row.result?.sessionId) || null, ...(await toldIn(store, run)) };
}

async function toldIn(store: Store, run: RunId): Promise<Pick<Words, 'calls' | 'patches'>> {
  const calls: SaidCall[] = [];
  const patches = new Map<string, string>();
  for (let after: number | undefined = 0; after !== undefined && after < MOST_EVENTS; ) {
    const events = await readRunEvents(store, run, after);
    for (const { event } of events) {
      const path = textIn(event.path);
      if (event.type === 'tool_call_ready' || event.type === 'mcp_tool_call_start') calls.push(callOf(event));
      if (event.type === 'file_patch') patches.set(path, `${patches.get(path) ?? ''}${textIn(event.diff)}\n`);
    }
    after = events.at(-1)?.sequence;
  }
  return { calls, patches };
}

function callOf({ toolCallId, toolName, input }: JsonObject): SaidCall {
  return { id: textIn(toolCallId), name: textIn(toolName), arguments: JSON.stringify(input ?? null) };
}

/** Words of a turn, from the events of its session. */
export async function wordsOfTurn(store: Store, run: RunId): Promise<Words> {
  const turn = await getTurn(store, turnOfRun(run));
  if (turn === undefined) return NO_WORDS;
  const events = await listEvents(store, { sessionId: turn.sessionId, after: 0, types: ['input.message', 'turn.started', 'act.started'] });
  const started = events.find(({ type, data }) => type === 'turn.started' && data.turn_id === turn.id);
  const asked = events.find(({ type, data }) => type === 'input.message' && objectIn(data.message)?.id === started?.data.input_message_id);
  const calls = events
    .filter(({ type, turnId }) => type === 'act.started' && turnId === turn.id)
    .flatMap(({ data }) => listIn(data.tool_calls).filter(isJsonObject))
    .map((call): SaidCall => ({ id: textIn(call.id), name: textIn(call.name), arguments: textIn(call.arguments) }));
  const parts = listIn(objectIn(asked?.data.message)?.parts).filter(isJsonObject);
  const prompt = firstLine(parts.map(({ text }) => textIn(text)).join('\n'));
  return { ...NO_WORDS, prompt, session: turn.sessionId, calls };
}
