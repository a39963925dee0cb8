import { z } from 'zod';
import { CallLimits } from '../../calls/limits/call-limits.ts';
import { Role, Scopes, UserScopes } from '../../calls/scopes.ts';
import { CacheTerms } from '../../contract/cache-terms.ts';
import { plainName } from '../../contract/plain-name.ts';
import { Recording } from '../../contract/receipts/parts.ts';

const MOST_SECONDS = 100 * 365 * 24 * 3600;

const expiresIn = z.number().positive().max(MOST_SECONDS).nullable().optional();
const service = plainName().min(1).optional().describe('The program whose key it is, by a name of your own, where it is no user’s.');

export const NewKey = z.strictObject({
  name: plainName().min(1),
  scopes: UserScopes.default({}),
  recording: Recording.optional(),
  tags: z.array(plainName().min(1)).max(50).default([]),
  user: plainName().optional().describe('The user whose key it is.'),
  team: plainName().optional().describe('The team whose key it is.'),
  service,
  limits: CallLimits.default({}).describe('What its holder may use at a time; what is absent follows `limits` of the configuration.'),
  cache: CacheTerms.optional().describe('Gives its equal requests the same answer again: {ttl_s, shared}. Never, unless it is set.'),
  expires_in_s: expiresIn.describe(
    'Seconds until the key stops working, a hundred years at most; null: never. Without it as `auth.key_days` of the configuration says.',
  ),
});

/** The members of a key that a PATCH may change. */
export const KeyChange = z.strictObject({
  limits: CallLimits.optional().describe('Instead of the limits it has; an empty object leaves those of the configuration.'),
  cache: CacheTerms.nullable().optional().describe('How long its equal requests get the same answer again; null: never.'),
  user: plainName().nullable().optional().describe('The user whose key it is from now on; null: nobody’s.'),
  team: plainName().nullable().optional().describe('The team whose key it is from now on; null: none.'),
  service: service.unwrap().nullable().optional().describe('The program whose key it is from now on; null: none.'),
});

const MOST_OVERLAP_S = 90 * 86_400;

/** A new secret for a key. */
export const KeyRotation = z.strictObject({
  overlap_s: z.number().min(0).max(MOST_OVERLAP_S).default(86_400).describe('Seconds for which the secret before works as well.'),
  expires_in_s: expiresIn.describe(
    'Seconds until the key stops working; null: never. Without it a key that ends gets as long as it had before.',
  ),
});

export const KeyView = z.strictObject({
  id: z.string(),
  kind: z.enum(['user', 'run']),
  name: z.string(),
  prefix: z.string().describe('The first characters, to recognise it.'),
  scopes: Scopes,
  recording: Recording.nullable(),
  tags: z.array(z.string()),
  user: z.string().nullable().describe('The user whose key it is.'),
  team: z.string().nullable().describe('The team whose key it is.'),
  service: z.string().nullable().describe('The program whose key it is.'),
  role: Role.nullable().describe('The role that counts: its own, else that of its user.'),
  limits: CallLimits,
  cache: CacheTerms.nullable().describe('How long its equal requests get the same answer again; null: never.'),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
  rotated_at: z.string().nullable().describe('When its secret was last replaced.'),
  last_used_at: z.string().nullable().describe('When it was last shown to this server, to within a minute; null: never.'),
});
export type KeyView = z.infer<typeof KeyView>;

export const CreatedKey = KeyView.extend({ secret: z.string().describe('Shown once; only its hash is kept.') });

export const KeyList = z.strictObject({ items: z.array(KeyView), next_cursor: z.string().optional() });
export const KeyParams = z.strictObject({ id: z.string() });
export const KeyListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  cursor: z.string().optional(),
  ended: z.stringbool().default(false).describe('true: also keys of runs that have ended.'),
});
