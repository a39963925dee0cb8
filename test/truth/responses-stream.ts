import type { Json, JsonObject } from '../../src/base/json.ts';
import { objects, pieces } from './pieces.ts';

interface Place {
  readonly item_id: Json;
  readonly output_index: number;
}

const event = (type: string, members: object): JsonObject => ({ type, ...members }) as JsonObject; // made of JSON below

/** A text of a message comes token by token where its logprobs are told. */
function textEvents(part: JsonObject, at: object): readonly JsonObject[] {
  const { text = '', logprobs, annotations } = part;
  const tokens = objects(logprobs);
  const isWhole = tokens.length > 0 && tokens.map(({ token }) => String(token)).join('') === text;
  const said = isWhole
    ? tokens.map((token) => ({ delta: token.token ?? '', logprobs: [token] }))
    : pieces(text).map((delta) => ({ delta, logprobs: [] }));
  return [
    event('response.content_part.added', { ...at, part: { ...part, text: '', annotations: [], logprobs: [] } }),
    ...said.map((one) => event('response.output_text.delta', { ...at, ...one })),
    ...objects(annotations).map((annotation, number) =>
      event('response.output_text.annotation.added', { ...at, annotation_index: number, annotation }),
    ),
    event('response.output_text.done', { ...at, text, logprobs: logprobs ?? [] }),
    event('response.content_part.done', { ...at, part }),
  ];
}

function refusalEvents(part: JsonObject, at: object): readonly JsonObject[] {
  return [
    event('response.content_part.added', { ...at, part: { ...part, refusal: '' } }),
    ...pieces(part.refusal).map((delta) => event('response.refusal.delta', { ...at, delta })),
    event('response.refusal.done', { ...at, refusal: part.refusal ?? '' }),
    event('response.content_part.done', { ...at, part }),
  ];
}

function contentEvents(item: JsonObject, place: Place): readonly JsonObject[] {
  return objects(item.content).flatMap((part, number) => {
    const at = { ...place, content_index: number };
    if (part.type === 'output_text') return textEvents(part, at);
    return part.type === 'refusal' ? refusalEvents(part, at) : [];
  });
}

function reasoningEvents(item: JsonObject, place: Place): readonly JsonObject[] {
  const summaries = objects(item.summary).flatMap((part, number) => {
    const at = { ...place, summary_index: number };
    return [
      event('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }),
      ...pieces(part.text).map((delta) => event('response.reasoning_summary_text.delta', { ...at, delta })),
      event('response.reasoning_summary_text.done', { ...at, text: part.text ?? '' }),
      event('response.reasoning_summary_part.done', { ...at, part }),
    ];
  });
  const contents = objects(item.content).flatMap((part, number) => {
    const at = { ...place, content_index: number };
    return [
      ...pieces(part.text).map((delta) => event('response.reasoning_text.delta', { ...at, delta })),
      event('response.reasoning_text.done', { ...at, text: part.text ?? '' }),
    ];
  });
  return [...summaries, ...contents];
}

const TEXTS: Readonly<Record<string, { readonly member: string; readonly word: string }>> = {
  function_call: { member: 'arguments', word: 'response.function_call_arguments' },
  custom_tool_call: { member: 'input', word: 'response.custom_tool_call_input' },
};

function callEvents(item: JsonObject, place: Place): readonly JsonObject[] {
  const { member, word } = TEXTS[String(item.type)] ?? { member: '', word: '' };
  return [
    ...pieces(item[member]).map((delta) => event(`${word}.delta`, { ...place, delta })),
    event(`${word}.done`, { ...place, [member]: item[member] ?? '' }),
  ];
}

/** An item as it is announced: nothing is in it yet. */
function announced(item: JsonObject): JsonObject {
  const status = item.status === undefined ? {} : { status: 'in_progress' };
  const { encrypted_content: _state, ...known } = item;
  if (item.type === 'message') return { ...item, ...status, content: [] };
  if (item.type === 'reasoning') return { ...known, ...status, summary: [], ...(item.content === undefined ? {} : { content: [] }) };
  const text = TEXTS[String(item.type)];
  return text === undefined ? { ...item, ...status } : { ...item, ...status, [text.member]: '' };
}

function itemEvents(item: JsonObject, output_index: number): readonly JsonObject[] {
  const place: Place = { item_id: item.id ?? `item_${output_index}`, output_index };
  const told = item.type === 'message' ? contentEvents : item.type === 'reasoning' ? reasoningEvents : callEvents;
  return [
    event('response.output_item.added', { output_index, item: announced(item) }),
    ...(item.type === 'message' || item.type === 'reasoning' || String(item.type) in TEXTS ? told(item, place) : []),
    event('response.output_item.done', { output_index, item }),
  ];
}

const ENDS: ReadonlySet<Json | undefined> = new Set(['incomplete', 'failed', 'cancelled']);

/** A Responses answer as OpenAI streams it: each item is announced, told piece by piece and repeated, and the end repeats them all. */
export function responsesEvents(answer: JsonObject): readonly JsonObject[] {
  const response = { ...answer, status: 'in_progress', output: [], usage: null, incomplete_details: null, error: null };
  const end = ENDS.has(answer.status) ? String(answer.status) : 'completed';
  return [
    event('response.created', { response }),
    event('response.in_progress', { response }),
    ...objects(answer.output).flatMap(itemEvents),
    event(`response.${end}`, { response: answer }),
  ].map((one, sequence_number) => ({ ...one, sequence_number }));
}
