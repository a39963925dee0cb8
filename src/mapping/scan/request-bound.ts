import { isJsonObject, type Json, parseJson } from '../../base/json.ts';

/** A member of a body, by its place. */
interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** A description of how to answer is not longer. */
const LONGEST_BOUND = 4096;
/** No vendor gives more answers at once. */
const MOST_ANSWERS = 128;

/** What a request says of the most that it may use. */
export interface RequestBound {
  /** Tokens of all its answers together; undefined where it does not say. */
  readonly output: number | undefined;
  /** How many answers it asks for. */
  readonly answers: number;
  /** Ways of being served that it asks for and that may cost more: a tier, a speed, a region. */
  readonly ways: readonly string[];
}

/** The same of one member. */
interface Saying {
  readonly output?: Json | undefined;
  readonly answers?: Json | undefined;
  readonly way?: Json;
}

const TOKENS = (output: Json): Saying => ({ output });
const ANSWERS = (answers: Json): Saying => ({ answers });
const WAY = (way: Json): Saying => ({ way });
const CONFIGURED = (value: Json): Saying => {
  if (!isJsonObject(value)) return {};
  return { output: value.maxOutputTokens ?? value.max_output_tokens, answers: value.candidateCount ?? value.candidate_count };
};

/** Members in which vendors take how much a call may use. */
export const BOUNDING: ReadonlyMap<string, (value: Json) => Saying> = new Map([
  ['max_tokens', TOKENS],
  ['max_completion_tokens', TOKENS],
  ['max_output_tokens', TOKENS],
  ['generationConfig', CONFIGURED],
  ['generation_config', CONFIGURED],
  ['n', ANSWERS],
  ['best_of', ANSWERS],
  ['service_tier', WAY],
  ['serviceTier', WAY],
  ['speed', WAY],
  ['inference_geo', WAY],
]);

/** Reads what a body says of the most that the call may use: the largest, where several members say it. */
export function requestBound(body: Buffer, { bounding }: { readonly bounding: readonly Member[] }): RequestBound {
  let output = 0;
  let answers = 1;
  const ways: string[] = [];
  for (const { name, start, end } of bounding) {
    const parsed = end - start > LONGEST_BOUND ? undefined : parseJson(body.toString('utf8', start, end));
    const saying = parsed?.ok === true ? BOUNDING.get(name)?.(parsed.value) : undefined;
    output = Math.max(output, countOf(saying?.output));
    answers = Math.max(answers, Math.min(MOST_ANSWERS, countOf(saying?.answers)));
    if (typeof saying?.way === 'string') ways.push(saying.way);
  }
  return { output: output === 0 ? undefined : output * answers, answers, ways };
}

function countOf(value: Json | undefined): number {
  return typeof value === 'number' && value > 0 ? Math.ceil(value) : 0;
}

/**
 * Words by which a request lets the vendor add to its input what its bytes do not show: what the vendor keeps, files and pages by their names,
 * searches and other tools of the vendor. They are found anywhere, as a word too many does no harm.
 */
const ADDING =
  /"(?:previous_response_id|conversation|container|prompt|cached_?content|mcp_servers|file_ids?|file_?uri|file_url|image_url|url)"|(?:web|google|file|x)_?search|code_?(?:interpreter|execution)|url_?context|"mcp|plugins"/i;

/** Whether the vendor may add to the input of a request. It reads all of it, some hundred microseconds for the largest. */
export function mayGrow(body: Buffer): boolean {
  return ADDING.test(body.toString('latin1'));
}
