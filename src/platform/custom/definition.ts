import { z } from 'zod';
import { JsonRecord, JsonValue } from '../../contract/json-value.ts';
import { THINKING_EFFORT_LEVELS } from '../../contract/runs/coding-agent.ts';
import { SystemVariables, systemWord } from '../../contract/work-orders/work-order.ts';

/** https://semver.org, without build metadata, which two versions may not differ in. */
const NUMBER = '(?:0|[1-9]\\d{0,8})';
const PRERELEASE_PART = `(?:${NUMBER}|\\d*[A-Za-z-][0-9A-Za-z-]*)`;
const VERSION = new RegExp(`^(?=.{5,90}$)${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${PRERELEASE_PART}(?:\\.${PRERELEASE_PART})*)?$`);

/** Ids fit the column that agents keep them in. */
const CapabilityId = z.string().regex(/^[a-z][a-z0-9_]{0,49}$/, 'must be 1 to 50 of a-z, 0-9 and _, beginning with a letter');
const CapabilityVersion = z.string().regex(VERSION, 'must be a semantic version such as 1.0.0');
const VersionRange = z.string().min(1).max(100);

const toolFrame = {
  name: z
    .string()
    .regex(/^[A-Za-z_][\w-]{0,63}$/, 'must be 1 to 64 letters, digits, _ or -')
    .describe('What the model calls it.'),
  description: z.string().min(1).max(4000),
  parameters: JsonRecord.default({ type: 'object', properties: {} }).describe('JSON Schema of the input, an object.'),
  policy: z.enum(['auto', 'requires_approval']).default('auto').describe('Whether a call waits for a yes.'),
  effect: z
    .enum(['idempotent', 'at_most_once'])
    .optional()
    .describe('Whether a call may be made again after a crash. Default: idempotent for GET, else at_most_once.'),
  timeout_s: z.number().positive().max(300).default(30),
};

export const HttpTool = z.strictObject({
  type: z.literal('http'),
  ...toolFrame,
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  url: z.string().min(1).max(4000).describe('Address; {{input.name}} and {{config.name}} may stand in its path.'),
  query: z.record(z.string(), z.string()).default({}).describe('Query parameters; one whose value is missing is left out.'),
  headers: z.record(z.string(), z.string()).default({}).describe('Headers; {{secret.NAME}} is replaced on the way out.'),
  body: JsonValue.optional().describe('JSON body; "{{input.name}}" alone becomes the value itself.'),
});
export type HttpTool = z.output<typeof HttpTool>;

export const TypeScriptTool = z.strictObject({
  type: z.literal('typescript'),
  ...toolFrame,
  source: z.string().min(1).max(200_000).describe('A module whose default export is called with (input, config), in the sandbox.'),
});
export type TypeScriptTool = z.output<typeof TypeScriptTool>;

/** A coding agent works for minutes; the other tools answer in seconds. */
const LONGEST_RUN_S = 6 * 3600;

export const CodingAgentTool = z.strictObject({
  type: z.literal('coding_agent'),
  agent: z.string().min(1).max(50).describe('A coding agent of this machine, such as claude; needs the token of the home.'),
  name: toolFrame.name.optional().describe('What the model calls it. Default: run_ and the agent.'),
  description: toolFrame.description.optional(),
  policy: toolFrame.policy,
  engine: z.string().min(1).max(100).optional().describe('Where its model calls go. Default: the engine of its vendor.'),
  model: z.string().min(1).max(200).optional(),
  thinking_effort: z.enum(THINKING_EFFORT_LEVELS).optional(),
  approval_mode: z
    .enum(['yolo', 'deny'])
    .default('deny')
    .describe('What it may do by itself: yolo everything, deny only what it needs no approval for.'),
  timeout_s: z.number().positive().max(LONGEST_RUN_S).default(1800),
  max_budget_usd: z.number().positive().optional().describe('What one call may cost.'),
});
export type CodingAgentTool = z.output<typeof CodingAgentTool>;

const mcpFrame = {
  policy: z
    .enum(['auto', 'requires_approval'])
    .optional()
    .describe('Whether calls wait for a yes. Without it those wait whose tool says that it destroys something.'),
  tools: z.array(z.string()).max(200).optional().describe('Only these tools of the server. Default: all.'),
  timeout_s: toolFrame.timeout_s,
};

export const McpServer = z.discriminatedUnion('transport', [
  z.strictObject({
    transport: z.literal('http'),
    ...mcpFrame,
    url: z.string().min(1).max(4000),
    headers: z.record(z.string(), z.string()).default({}),
  }),
  z.strictObject({
    transport: z.literal('stdio'),
    ...mcpFrame,
    command: systemWord.min(1).max(1000).describe('A program of this machine; needs the token of the home.'),
    args: z.array(systemWord.max(4000)).max(100).default([]),
    env: SystemVariables.default({}),
    cwd: systemWord.max(1000).optional(),
  }),
]);
export type McpServer = z.output<typeof McpServer>;

/** A capability that somebody writes: text, tools and servers. */
export const CapabilityDefinition = z.strictObject({
  id: CapabilityId,
  name: z.string().min(1).max(100),
  description: z.string().min(1).max(2000),
  status: z.enum(['available', 'coming_soon', 'deprecated']).default('available'),
  icon: z.string().max(50).optional(),
  category: z.string().max(50).optional(),
  version: CapabilityVersion.default('1.0.0').describe('A version is never changed; a new one is added beside it.'),
  system_prompt: z
    .string()
    .max(64 * 1024)
    .optional()
    .describe('Goes before the prompt of the agent.'),
  config_schema: JsonRecord.optional().describe('JSON Schema of the settings on an agent; its defaults are filled in.'),
  dependencies: z
    .array(z.strictObject({ id: CapabilityId, range: VersionRange.default('*') }))
    .max(20)
    .default([]),
  tools: z
    .array(z.discriminatedUnion('type', [HttpTool, TypeScriptTool, CodingAgentTool]))
    .max(64)
    .default([]),
  mcp: McpServer.optional().describe('A server whose tools it brings.'),
});
export type CapabilityDefinition = z.output<typeof CapabilityDefinition>;
