import { isJsonObject, type Json, parseJson } from '../../base/json.ts';
import { marksIn } from '../../base/json-repeats.ts';
import type { Scan, Span } from './scan.ts';

/** Lists of fallbacks and tools are read where other calls wait; what takes longer than a few milliseconds is not read. */
const MOST_READ = 512 * 1024;

/** Where the engine reads for which model a request is. */
export type ModelPlace = 'path' | 'body' | 'written';

/**
 * The models that a body names beside the one it is for, or `unknown` where that cannot be told: it names none of its own, so that the
 * vendor chooses, a stored prompt may choose, or there is too much to read.
 */
export function namedModels(text: Buffer, { model, naming }: Scan, place: ModelPlace): readonly string[] | 'unknown' {
  if (place === 'body' && model === undefined) return 'unknown';
  const length = naming.reduce((sum, { start, end }) => sum + end - start, 0);
  if (length > MOST_READ) return 'unknown';
  const values = naming.map((span) => ({ ...span, value: valueAt(text, span) }));
  // Of a member that an object has twice the engine may read the other one.
  if (values.some(({ value, values: marks }) => value !== null && marks !== Math.max(1, marksIn(value)))) return 'unknown';
  if (values.some(({ name, value }) => name === 'prompt' && isJsonObject(value))) return 'unknown';
  const named = values.flatMap(({ name, value }) => (name === 'prompt' ? [] : modelsIn(value)));
  // The vendor may read the model of the path or that of the body.
  return place === 'path' && model !== undefined ? [model.replace(/^models\//, ''), ...named] : named;
}

function valueAt(text: Buffer, { start, end }: Span): Json {
  const parsed = parseJson(text.toString('utf8', start, end));
  // The engine refuses what is no JSON.
  return parsed.ok ? parsed.value : null;
}

/** Members that name models: `model`, `models`, `fallback_model`, `analysis_models`, … */
const NAMES_MODELS = /(?:^|_)models?$/i;
/** Schemas and declarations of functions, in which `model` is a word of the caller's own. */
const OWN_WORDS: ReadonlySet<string> = new Set([
  'function',
  'functionDeclarations',
  'parameters',
  'input_schema',
  'schema',
  'custom',
  'contents',
]);
const MOST_DEPTH = 6;

/** Names as text, or in the members of objects that name models, however deep; tools are objects too. */
function modelsIn(value: Json, depth = 0): string[] {
  if (typeof value === 'string') return [value.replace(/^models\//, '')];
  return depth === 0 && Array.isArray(value) ? value.flatMap((one: Json) => modelsIn(one, depth)) : membersIn(value, depth);
}

function membersIn(value: Json, depth: number): string[] {
  if (depth > MOST_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((one: Json) => membersIn(one, depth + 1));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (OWN_WORDS.has(name)) return [];
    return NAMES_MODELS.test(name) ? modelsIn(member) : membersIn(member, depth + 1);
  });
}
