import type { Json, JsonObject } from '../../base/json.ts';
import type { Context } from '../command.ts';
import { CliError } from '../failure.ts';
import { readInput } from '../input.ts';
import { list, optional } from '../parameter.ts';

/** Options that describe an agent, shared by `create` and `edit`. */
export const fieldOptions = {
  prompt: optional('--prompt <text>', 'the system prompt'),
  promptFile: optional('--prompt-file <path>', 'a file that holds it, - for the standard input'),
  description: optional('--description <text>', 'what it is for'),
  model: optional('--model <engine/model>', 'the model it runs on (default sim/sim-1)'),
  tag: list('--tag <name>', 'a tag; repeatable'),
  conflicts: optional('--conflicts <policy>', 'tools of one name: error, prefix, prefer or prefer:<capability>'),
  maxIterations: optional('--max-iterations <number>', 'model calls of one turn'),
  maxCostUsd: optional('--max-cost-usd <number>', 'dollars of one turn'),
};

export interface Fields {
  readonly prompt: string | undefined;
  readonly promptFile: string | undefined;
  readonly description: string | undefined;
  readonly model: string | undefined;
  readonly tag: readonly string[];
  readonly conflicts: string | undefined;
  readonly maxIterations: string | undefined;
  readonly maxCostUsd: string | undefined;
}

/** The options that were given, as a body of the API. */
export async function bodyOf(context: Context, fields: Fields): Promise<JsonObject> {
  const prompt = fields.promptFile === undefined ? fields.prompt : await readInput(fields.promptFile, context.io, 'a text file');
  const said: Record<string, Json | undefined> = {
    system_prompt: prompt,
    description: fields.description,
    model: fields.model,
    tags: fields.tag.length === 0 ? undefined : [...fields.tag],
    conflicts: fields.conflicts,
    max_iterations: numberOf('--max-iterations', fields.maxIterations),
    max_cost_usd: numberOf('--max-cost-usd', fields.maxCostUsd),
  };
  return Object.fromEntries(Object.entries(said).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

function numberOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new CliError('usage', `${option} is '${text}', not a number`, { hint: 'Write a number such as 20 or 0.5.' });
}
