import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { Answer, Target } from '../case.ts';
import { shown } from '../problems.ts';
import type { Ending, Folded, Reading, Voice } from '../voice.ts';

const NOTHING: Reading = { text: '', calls: [], finish: '', tokens: { input: 0, output: 0 }, problems: [] };

export function bodyOf(answer: Answer | undefined): JsonObject {
  return isJsonObject(answer?.json) ? answer.json : {};
}

function failed(answer: Answer | undefined): string | undefined {
  if (answer === undefined || answer.status === 0) return 'there is no answer';
  if (answer.status !== 200) return `the status should be 200, not ${answer.status}: ${shown(answer.json ?? answer.text)}`;
  return answer.complete ? undefined : 'the connection broke before the answer was whole';
}

/** A plain answer; what is wrong with it stands in its problems. */
export function readPlain(voice: Voice, answer: Answer | undefined): Reading {
  const failure = failed(answer);
  if (failure !== undefined) return { ...NOTHING, problems: [failure] };
  const type = answer?.headers['content-type'] ?? '';
  const reading = voice.read(bodyOf(answer));
  return type.startsWith('application/json')
    ? reading
    : { ...reading, problems: [`the content type should be application/json, not ${shown(type)}`, ...reading.problems] };
}

/** A streamed answer, folded; what is wrong with the stream and with what it adds up to stands in its problems. */
export function readStreamed(voice: Voice, answer: Answer | undefined): Reading & { readonly folded?: Folded } {
  const failure = failed(answer);
  if (failure !== undefined || answer === undefined) return { ...NOTHING, problems: [failure ?? ''] };
  if (answer.events.length === 0) return { ...NOTHING, problems: [`the answer should be a stream of events: ${shown(answer.text)}`] };
  const folded = voice.fold(answer.events);
  const reading = voice.read(folded.body);
  return { ...reading, folded, problems: [...folded.problems, ...reading.problems] };
}

export function endsIn(voice: Voice, reading: Reading, ending: Ending): string[] {
  const words = voice.endings[ending];
  return words.includes(reading.finish)
    ? []
    : [`the answer should end with ${words.map(shown).join(' or ')}, not ${shown(reading.finish)}`];
}

/** The text itself where the engine says what it is told, else any text at all. */
export function says(target: Target, reading: Reading, text: string): string[] {
  if (target.deterministic) return reading.text === text ? [] : [`the text should be ${shown(text)}, not ${shown(reading.text)}`];
  return reading.text === '' ? ['there should be a text'] : [];
}

/** The calls of an answer by name and input: `lookup {"key":"alpha"}`. */
function callsOf(reading: Reading): string[] {
  return reading.calls.map(({ name, input }) => `${name} ${JSON.stringify(input)}`);
}

export function called(reading: Reading, expected: readonly string[]): string[] {
  const calls = callsOf(reading);
  if (JSON.stringify(calls) === JSON.stringify(expected)) return [];
  return [`the calls should be ${shown(expected)}, not ${shown(calls)}`];
}
