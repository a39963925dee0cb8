import type { JsonObject } from '../../base/json.ts';
import { parseShallowObject } from '../../base/json-limits.ts';
import type { EventDraft, Heard } from '../adapter.ts';
import { listAt, objectAt, textAt } from '../families/lines/fields.ts';

/** Our answers to requests of Cursor that the protocol does not know. Cursor waits for each, and an error would end its turn. */
const ANSWERS: Readonly<Record<string, JsonObject>> = {
  // The choices are the agent's own; a text of the caller is none of them.
  'cursor/ask_question': { outcome: 'skipped', reason: 'Nobody can choose in this run. Decide yourself, or ask in your answer.' },
  'cursor/create_plan': { outcome: 'accepted' },
  'cursor/update_todos': { outcome: 'accepted' },
  'cursor/task': { outcome: 'completed' },
  'cursor/generate_image': { outcome: 'generated' },
};

/** The answer to a request of Cursor's own; undefined when the line is none. */
export function answerExtension(text: string): Heard | undefined {
  const line = parseShallowObject(text);
  const method = textAt(line?.method) ?? '';
  const outcome = Object.hasOwn(ANSWERS, method) ? ANSWERS[method] : undefined;
  if (line === undefined || outcome === undefined) return undefined;
  const events = method === 'cursor/ask_question' ? [skipped(objectAt(line.params))] : [];
  // Builds differ in which of these are requests; a notification gets no answer.
  if (line.id === undefined) return { events };
  return { events, send: [JSON.stringify({ jsonrpc: '2.0', id: line.id, result: { outcome } })] };
}

function skipped(params: JsonObject): EventDraft {
  const questions = listAt(params.questions).map(
    (question) => textAt(objectAt(question).prompt) ?? textAt(objectAt(question).question) ?? '',
  );
  return { type: 'debug', level: 'warn', message: `the agent asked and was told to decide itself: ${questions.join(' ')}` };
}
