import { z } from 'zod';
import { CallLimits } from '../../calls/limits/call-limits.ts';
import { Role } from '../../calls/scopes.ts';
import { AbpError } from '../../contract/errors.ts';
import { plainName } from '../../contract/plain-name.ts';

/** Names that stand in addresses and on command lines as they are. */
const id = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}$/, { error: 'must be letters, digits and . _ @ + -, and begin with one of the first two' });
const name = plainName();

const ID_OF_NEW = 'Stands in addresses and on command lines; made of the name unless given.';

/** The id of a new user or team: as given, or the name in small letters, with a hyphen for everything that an id cannot hold. */
export function newId({ id: given, name: words = '' }: { readonly id?: string | undefined; readonly name?: string | undefined }): string {
  if (given !== undefined) return given;
  const made = (words.toLowerCase().match(/[a-z0-9][a-z0-9._@+]*/g) ?? []).join('-').slice(0, 100);
  if (made === '')
    throw new AbpError('invalid_request', 'An id is needed, or a name with a letter from a to z or a digit of which one can be made.');
  return made;
}

export const NewTeam = z.strictObject({
  id: id.optional().describe(ID_OF_NEW),
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
export const TeamDeletion = z.strictObject({
  keys: z
    .enum(['revoke', 'keep'])
    .optional()
    .describe(
      '`revoke` revokes keys that were given to the team; `keep` leaves them live, as those of its users, without its limits and budgets.',
    ),
  force: z
    .enum(['true', 'false'])
    .optional()
    .transform((text) => text === 'true')
    .describe('`true` revokes its keys, unless `keys` says otherwise, and gives up its limits and budgets.'),
});
export type TeamDeletion = z.infer<typeof TeamDeletion>;
export const TeamList = z.strictObject({ items: z.array(TeamView) });

export const NewUser = z.strictObject({
  id: id.optional().describe(`A short name or an address. ${ID_OF_NEW}`),
  name: name.optional().describe('In words; the id unless given.'),
  role: Role.optional().describe(
    'The most that any key of the user opens (docs/permissions.md); without it each key opens what its own scopes say.',
  ),
  teams: z.array(plainName()).max(100).default([]),
});
export const UserChange = z.strictObject({
  name: name.optional(),
  role: Role.nullable().optional().describe('From the next call on; null: none.'),
  teams: z.array(plainName()).max(100).optional(),
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

const MOST_SEALED = 4000;

export const StartQuery = z.strictObject({
  return_to: z
    .string()
    .max(2000)
    .regex(/^\/(?![/\\])[\w\-./?=&%+:~!*(),;@$]*$/, { error: 'must be a path of this server' })
    .default('/')
    .describe('The page that the browser is brought to.'),
});

/** The words of the issuer; the library that knows them reads them. */
export const CallbackQuery = z.record(z.string(), z.string());

export const DeviceCode = z.strictObject({
  device: z.string().describe('Show it to POST /v1/sign-ins/device/token until the code is confirmed.'),
  user_code: z.string().describe('What to type at verification_uri.'),
  verification_uri: z.string(),
  verification_uri_complete: z.string().nullable().describe('The same address with the code in it.'),
  expires_in_s: z.number(),
  interval_s: z.number().describe('Seconds between two questions.'),
});

export const NewDevice = z.strictObject({
  label: plainName().min(1).default('a command line').describe('The machine, as the list of sign-ins shows it.'),
});

export const DeviceQuestion = z.strictObject({ device: z.string().min(1).max(MOST_SEALED) });

export const DevicePending = z.strictObject({
  status: z.literal('pending'),
  slow_down: z.boolean().describe('Wait five seconds longer between questions from now on.'),
});

export const SignedInView = z.strictObject({
  status: z.literal('signed_in'),
  secret: z.string().describe('Shown once: send it in X-ABP-Key.'),
  user: z.string(),
  name: z.string(),
  role: Role.nullable(),
  expires_at: z.string(),
});

const SignInView = z.strictObject({
  id: z.string(),
  user: z.string(),
  via: z.enum(['browser', 'command']),
  label: z.string().describe('The browser or machine, as it names itself.'),
  created_at: z.string(),
  expires_at: z.string(),
});
export const SignInList = z.strictObject({ items: z.array(SignInView) });
export const SignInParams = z.strictObject({ id: z.string() });

export const CurrentCaller = z.strictObject({
  principal: z.enum(['token', 'key', 'paired', 'local', 'anonymous']).describe('Who the server takes this caller for.'),
  sign_in: z.string().nullable().describe('The sign-in, where this is one.'),
  key: z.string().nullable(),
  user: z.string().nullable(),
  service: z.string().nullable(),
  teams: z.array(z.string()),
  role: Role.nullable(),
  permissions: z.array(z.string()),
  expires_at: z.string().nullable(),
});
