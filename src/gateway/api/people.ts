import { z } from 'zod';
import { CallLimits } from '../../calls/limits/call-limits.ts';
import { Role } from '../../calls/scopes.ts';

/** Names that stand in addresses and on command lines as they are. */
const id = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}$/, { error: 'must be letters, digits and . _ @ + -, and begin with one of the first two' });
const name = z.string().max(200);

export const NewTeam = z.strictObject({
  id,
  name: name.optional().describe('In words; the id unless given.'),
  limits: CallLimits.default({}).describe('What all its keys together may use at a time.'),
  shows_runs: z.boolean().default(false).describe('Whether its members see each other’s runs.'),
});
export const TeamChange = z.strictObject({
  name: name.optional(),
  limits: CallLimits.optional().describe('Instead of the limits it has; an empty object removes them.'),
  shows_runs: z.boolean().optional().describe('Whether its members see each other’s runs.'),
});
export const TeamView = z.strictObject({
  id: z.string(),
  name: z.string(),
  limits: CallLimits,
  shows_runs: z.boolean(),
  members: z.array(z.string()).describe('Ids of its users.'),
  created_at: z.string(),
});
export type TeamView = z.infer<typeof TeamView>;
export const TeamList = z.strictObject({ items: z.array(TeamView) });

export const NewUser = z.strictObject({
  id: id.describe('A short name or an address.'),
  name: name.optional().describe('In words; the id unless given.'),
  role: Role.optional().describe(
    'The most that any key of the user opens (docs/permissions.md); without it each key opens what its own scopes say.',
  ),
  teams: z.array(z.string()).max(100).default([]),
});
export const UserChange = z.strictObject({
  name: name.optional(),
  role: Role.nullable().optional().describe('From the next call on; null: none.'),
  teams: z.array(z.string()).max(100).optional(),
});
export const UserView = z.strictObject({
  id: z.string(),
  name: z.string(),
  role: Role.nullable(),
  teams: z.array(z.string()),
  created_at: z.string(),
});
export type UserView = z.infer<typeof UserView>;
export const UserList = z.strictObject({ items: z.array(UserView) });
export const PersonParams = z.strictObject({ id: z.string() });
