import { z } from 'zod';
import type { Json, JsonObject } from '../../base/json.ts';
import { parseAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import { JsonRecord } from '../../contract/json-value.ts';
import { parsedYaml } from '../checks/checks.ts';
import { type Agent, ConflictPolicy } from './agent.ts';
import { AGENT_LIMITS, nanoUsd, usd } from './agent-limits.ts';
import type { AgentInput } from './agents.ts';
import type { Selection } from './resolve.ts';

/** The fields between the `---` lines; the text below them is the prompt. */
const FrontMatter = z.strictObject({
  name: z.string().min(1).max(AGENT_LIMITS.name),
  description: z.string().max(AGENT_LIMITS.description).optional(),
  model: z.string().min(1).max(AGENT_LIMITS.model).optional(),
  tags: z.array(z.string().min(1).max(AGENT_LIMITS.tag)).max(AGENT_LIMITS.tags).default([]),
  max_iterations: z.int().min(1).max(AGENT_LIMITS.iterations).optional(),
  max_cost_usd: z.number().min(AGENT_LIMITS.leastCostUsd).max(AGENT_LIMITS.costUsd).optional(),
  conflicts: ConflictPolicy.default('error'),
  capabilities: z
    .array(z.union([z.string(), z.strictObject({ id: z.string(), version: z.string().optional(), config: JsonRecord.optional() })]))
    .max(AGENT_LIMITS.capabilities)
    .default([]),
});

const PARTS = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/;

/** An agent from Markdown with YAML front matter. */
export async function agentFromMarkdown(markdown: string): Promise<AgentInput> {
  const [, head, body = ''] = PARTS.exec(markdown.replace(/^\uFEFF/, '')) ?? [];
  if (head === undefined) {
    throw new AbpError('unprocessable', 'The text must begin with front matter: a line ---, at least name: …, and another line ---.');
  }
  const matter = parseAt(FrontMatter, await yamlOf(head), 'front matter');
  return {
    name: matter.name,
    description: matter.description ?? null,
    model: matter.model ?? null,
    tags: matter.tags,
    maxIterations: matter.max_iterations ?? null,
    maxCostNanoUsd: matter.max_cost_usd === undefined ? null : nanoUsd(matter.max_cost_usd),
    conflicts: matter.conflicts,
    capabilities: matter.capabilities.map((one) => (typeof one === 'string' ? { id: one } : one)),
    systemPrompt: promptIn(body, /^[^\n]*\r\n/.test(markdown)),
  };
}

/** The text between the blank line after the front matter and the end of the last line, in the line ends of the file. */
function promptIn(body: string, windows: boolean): string {
  return windows ? body.replace(/^\r?\n/, '').replace(/\r?\n$/, '') : body.replace(/^\n/, '').replace(/\n$/, '');
}

/** Front matter holds names, limits and settings; a longer one is a mistake or an attack. */
const LONGEST_MATTER = 64 * 1024;

async function yamlOf(text: string): Promise<unknown> {
  if (text.length > LONGEST_MATTER) {
    throw new AbpError('unprocessable', `The front matter is longer than ${LONGEST_MATTER} characters.`, { limit: LONGEST_MATTER });
  }
  try {
    return await parsedYaml(text);
  } catch (error) {
    if (AbpError.is(error)) throw error;
    const reason = firstLine(error instanceof Error ? error.message : String(error));
    throw new AbpError('unprocessable', `The front matter is not valid YAML: ${reason}.`);
  }
}

/** The rest draws the place. */
function firstLine(message: string): string {
  return (message.split('\n', 1)[0] ?? '').replace(/[:.]$/, '');
}

/** The agent as Markdown; reading it back gives the same agent. */
export async function agentToMarkdown(agent: Agent, capabilities: readonly Selection[]): Promise<string> {
  const { stringify } = await import('yaml');
  const matter: Record<string, Json> = { name: agent.name };
  if (agent.description !== null) matter.description = agent.description;
  if (agent.model !== null) matter.model = agent.model;
  if (agent.tags.length > 0) matter.tags = [...agent.tags];
  if (agent.maxIterations !== null) matter.max_iterations = agent.maxIterations;
  if (agent.maxCostNanoUsd !== null) matter.max_cost_usd = usd(agent.maxCostNanoUsd);
  if (agent.conflicts !== 'error') matter.conflicts = agent.conflicts;
  if (capabilities.length > 0) matter.capabilities = capabilities.map(entryOf);
  return `---\n${stringify(matter, { lineWidth: 0, aliasDuplicateObjects: false })}---\n\n${agent.systemPrompt}\n`;
}

function entryOf({ id, version, config }: Selection): string | JsonObject {
  if (version === undefined && config === undefined) return id;
  return { id, ...(version === undefined ? {} : { version }), ...(config === undefined ? {} : { config }) };
}
