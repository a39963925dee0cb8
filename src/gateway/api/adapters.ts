import { z } from 'zod';
import { HOOK_SUPPORTS, HOOK_TYPES } from '../../contract/runs/run-hooks.ts';
import { TrafficRow } from '../../contract/runs/run-traffic.ts';

const text = z.string();
const tokens = z.int().nonnegative();

export const AdapterParams = z.strictObject({ id: text.describe('The name of a coding agent, such as claude or codex.') });

/** A coding agent as the list shows it. Objects of coding agents are camelCase. */
const AdapterView = z.looseObject({
  agent: text,
  displayName: text,
  cliCommand: text,
  summary: z.looseObject({ cli: text }).describe('Its row in the table of all agents.'),
  capabilities: z.looseObject({ agent: text }).describe('Its profile: AgentCapabilities.'),
});

export const AdapterList = z.strictObject({ items: z.array(AdapterView), total: z.int() });

export const AdapterDetail = AdapterView.extend({
  notes: z
    .array(z.strictObject({ date: text, version: text, note: text }))
    .describe('What is true of today’s versions and not of the profile.'),
  installInstructions: z.array(z.looseObject({ platform: text, type: text, command: text })).describe('For the machine of the server.'),
  messages: z
    .strictObject({ when: z.enum(['steering', 'between']), held: z.enum(['always', 'asked']) })
    .nullable()
    .describe(
      'How it takes messages while it runs: also in the midst of its work, in every run or where one is held for it; null: not at all.',
    ),
  hooks: z
    .record(z.enum(HOOK_TYPES), z.enum(HOOK_SUPPORTS))
    .describe('What hooks of the in-process client can do with it: decide, only be told, or nothing.'),
  traffic: z
    .strictObject({
      dialect: text.describe('What it speaks by itself.'),
      dialects: z.array(text).describe('Everything it can be told to speak.'),
      emulate: z.array(text).describe('Capabilities that its runs let be approximated.'),
      rows: z
        .array(z.looseObject({ ...TrafficRow.shape }))
        .describe('What its requests hold, and what engines of other dialects make of it.'),
      unserved: text.optional().describe('Why its model calls cannot go through the gateway.'),
    })
    .describe('Its model calls.'),
  defaultModelId: text.nullable(),
  modelsAsOf: text,
  modelsSource: text,
});

export const DetectQuery = z.strictObject({
  fresh: z.enum(['true', 'false']).optional().describe('true asks the command again although its file has not changed.'),
});

export const DetectionView = z.strictObject({
  agent: text,
  installed: z.boolean(),
  version: text.optional(),
  path: text.optional(),
  effective: z.looseObject({ agent: text }).describe('What this version can do: AgentCapabilities.'),
  untested: text.optional().describe('That the adapter was not tried with this version.'),
  problem: text.optional(),
});

export const AuthView = z.strictObject({
  agent: text,
  status: z.enum(['authenticated', 'unauthenticated', 'expired', 'unknown']),
  methods: z.array(text),
  variables: z.array(z.strictObject({ name: text, set: z.boolean() })),
  files: z.array(z.strictObject({ path: text, present: z.boolean() })),
  loginCommand: text.optional(),
  guidance: z.array(text),
});

export const InstallRequest = z.strictObject({ method: text.optional().describe('npm, brew, pip …; default: the way that works today.') });

export const InstallAnswer = z.strictObject({
  way: z.looseObject({ platform: text, type: text, command: text }),
  detection: DetectionView,
});

export const ModelList = z.strictObject({
  items: z.array(z.looseObject({ modelId: text, isDefault: z.boolean() })).describe('ModelCapabilities, each with isDefault.'),
  total: z.int(),
  lastUpdated: text,
});

export const ValidateModel = z.strictObject({ model: text.min(1).max(200) });

export const ModelValidation = z.looseObject({
  valid: z.boolean(),
  status: z.enum(['ok', 'deprecated', 'alias', 'unknown', 'ambiguous']),
  message: text,
});

export const CostRequest = z.strictObject({
  model: text.min(1).max(200),
  inputTokens: tokens.describe('With what was read from the cache.'),
  outputTokens: tokens.describe('With what was thought.'),
  thinkingTokens: tokens.optional(),
  cachedTokens: tokens.optional(),
  cacheCreationTokens: tokens.optional(),
  webSearchRequests: tokens.optional(),
});

export const CostAnswer = z.strictObject({
  estimatedUsd: z.number().describe('Input and output at list price; 0 where there is none.'),
  totalUsd: z.number().nullable().describe('With cache, thinking, price tiers and searches; null where there is no price.'),
});
