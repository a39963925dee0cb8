import { isJsonObject, type Json, type JsonObject, parseJson } from '../base/json.ts';
import type { Capability } from '../contract/capability.ts';
import type { EmulationEntry } from '../contract/negotiation.ts';
import { schemaProblem } from './json-schema.ts';

/** What post-processing made of an answer. */
export type PostProcessed = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly problem: string };

type Check = (value: Json, schema: JsonObject | undefined) => string | undefined;

/** What the JSON of an answer must be, by the capability that was promised. */
const CHECKS: Readonly<Partial<Record<Capability, Check>>> = {
  structured_output_json_schema: (value, schema) => (schema === undefined ? undefined : schemaProblem(schema, value)),
  json_mode: (value) => (isJsonObject(value) ? undefined : 'JSON mode promises an object'),
};

/** Does what a post-processing entry of a report promised, on the text of the finished answer. */
export function runPostProcessing(entry: EmulationEntry, responseText: string, schema?: JsonObject): PostProcessed {
  const check = entry.strategy.type === 'post_processing' ? CHECKS[entry.capability] : undefined;
  if (check === undefined) return failed(`${entry.capability} has no post-processing`);
  const extracted = extractJson(responseText);
  if (!extracted.ok) return extracted;
  const problem = check(extracted.value, schema);
  return problem === undefined ? extracted : failed(`the answer does not fit: ${problem}`);
}

/** The JSON of a text answer: the whole text, or the one fenced block in it. */
export function extractJson(text: string): PostProcessed {
  const bare = parseJson(text);
  if (bare.ok) return bare;
  const blocks = fencedBlocks(text);
  const [block] = blocks;
  if (block === undefined) return failed(`the answer is not JSON: ${bare.message}`);
  if (blocks.length > 1) return failed(`the answer holds ${blocks.length} fenced blocks, one is expected`);
  const fenced = parseJson(block);
  return fenced.ok ? fenced : failed(`the fenced block is not JSON: ${fenced.message}`);
}

/** Read by lines: a fence can only begin one, since a JSON string has no raw line break. An unclosed block ends with the text. */
function fencedBlocks(text: string): string[] {
  const blocks: string[] = [];
  let open: string[] | undefined;
  for (const line of text.split('\n')) {
    if (!line.trimStart().startsWith('```')) {
      open?.push(line);
    } else if (open === undefined) {
      open = [];
    } else {
      blocks.push(open.join('\n'));
      open = undefined;
    }
  }
  if (open !== undefined) blocks.push(open.join('\n'));
  return blocks;
}

function failed(problem: string): PostProcessed {
  return { ok: false, problem };
}
