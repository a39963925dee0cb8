import { z } from 'zod';
import { Capability } from '../contract/capability.ts';
import { plainName } from '../contract/plain-name.ts';
import { Plane } from '../contract/receipts/parts.ts';
import { TrafficRow } from '../contract/runs/run-traffic.ts';
import { Compatibility } from '../contract/support.ts';

/** Terms that a run key carries for every call made with it, so that the agent that holds it needs no headers of ours. */
export const RunTerms = z.strictObject({
  agent: z.string().describe('The coding agent that runs.'),
  engine: z.string().describe('The engine of the calls that name none.'),
  model: z.string().nullable().describe('The model of every call; null leaves what the agent writes.'),
  emulate: z.array(Capability).describe('Capabilities that may be approximated.'),
  traffic: z.array(TrafficRow).max(100).default([]).describe('What the requests of the agent hold, and what may become of it.'),
  compatibility: Compatibility,
  thinking: z
    .strictObject({
      effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
      budget_tokens: z.int().positive().optional(),
    })
    .nullable()
    .describe('Thinking of every call; null leaves what the agent writes.'),
  owner: z.string().nullable().default(null).describe('The key that asked for the run, whose share its calls take; null: it had none.'),
  tools: z
    .strictObject({ allowed: z.array(z.string()), denied: z.array(z.string()) })
    .nullish()
    .describe('Globs of tools that may be offered and called; absent: all of them.'),
});
export type RunTerms = z.infer<typeof RunTerms>;

/** The names by which operators give rights to people and keys; `gateway/auth/permissions` says what each may do. */
export const Role = z.enum(['admin', 'operator', 'auditor', 'member', 'agent-runner', 'suspended']);
export type Role = z.infer<typeof Role>;

/** Rights of a key. An absent list means no limit of that kind; `planes` defaults to the gateway alone. */
export const Scopes = z.strictObject({
  admin: z.boolean().optional().describe('Everything, settings and keys included.'),
  role: Role.optional().describe('What the key may do, by name (docs/permissions.md); the other scopes narrow it.'),
  planes: z.array(Plane).optional().describe('Planes the key may use; with a role, those of the role unless named.'),
  raw: z.boolean().optional().describe('Vendor paths that are not part of a dialect.'),
  engines: z.array(z.string()).optional().describe('Engines, by id or pattern.'),
  models: z.array(z.string()).optional().describe('Models, by name or pattern.'),
  agents: z.array(z.string()).optional().describe('Coding agents, by id or pattern.'),
  tags: z.array(z.string()).optional().describe('Tags that calls may bring in X-ABP-Tags, by name or pattern; an empty list allows none.'),
  run: RunTerms.optional().describe('Of run keys alone: what every call made with it is bound to.'),
});
export type Scopes = z.infer<typeof Scopes>;

/** Names of models may be addresses of a vendor's resources. */
const patterns = z.array(plainName(1000)).max(1000).optional();

/** Scopes that a caller may give to a key; terms of a run are set by the run. */
export const UserScopes = Scopes.omit({ run: true }).extend({
  engines: patterns.describe('Engines, by id or pattern.'),
  models: patterns.describe('Models, by name or pattern.'),
  agents: patterns.describe('Coding agents, by id or pattern.'),
  tags: patterns.describe('Tags that calls may bring in X-ABP-Tags, by name or pattern; an empty list allows none.'),
});
