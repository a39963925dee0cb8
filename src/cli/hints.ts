import type { JsonObject } from '../base/json.ts';
import type { AbpError } from '../contract/errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A situation that a person can be in, told from the error, and the next step out of it. */
interface Situation {
  /** The member of the error's details that shows it. */
  readonly about: string;
  readonly codes: readonly AbpError['code'][];
  readonly hint: string | ((details: JsonObject, env: Environment) => string);
}

const SITUATIONS: readonly Situation[] = [
  {
    about: 'recording',
    codes: ['not_found'],
    hint: 'abp recordings list shows the runs whose bodies are kept; abp.toml keeps them with recording.default = "full".',
  },
  {
    about: 'run_id',
    codes: ['not_found'],
    hint: 'abp receipts list shows the runs of this home; the id stands in X-ABP-Run-Id of the answer.',
  },
  {
    about: 'run_id',
    codes: ['invalid_request'],
    hint: 'abp receipts list shows the ids of runs; the id also stands in X-ABP-Run-Id of the answer.',
  },
  {
    about: 'section',
    codes: ['not_found'],
    hint: ({ section }) =>
      `The operator of the server adds [${String(section)}] to its abp.toml (docs/people.md); until then callers need a key, which abp keys create makes.`,
  },
  {
    about: 'issuer',
    codes: ['unauthenticated', 'overloaded'],
    hint: 'Try again with abp login. Where that is refused, too, the operator of the server compares [oidc] of its abp.toml with the issuer.',
  },
  { about: 'run_id', codes: ['conflict'], hint: 'Wait until the run has ended; abp receipts show RUN_ID says how far it is.' },
  { about: 'budget', codes: ['not_found'], hint: 'abp budgets list shows the budgets, with their ids.' },
  { about: 'user', codes: ['not_found', 'unprocessable'], hint: 'abp users list shows the users; abp users create makes one.' },
  { about: 'team', codes: ['not_found', 'unprocessable'], hint: 'abp teams list shows the teams; abp teams create makes one.' },
  { about: 'sign_in', codes: ['not_found'], hint: 'abp sign-ins list shows who is signed in, with the ids.' },
  { about: 'fields', codes: ['VALIDATION_ERROR'], hint: 'abp run --help lists the options and what they take.' },
  { about: 'key', codes: ['unprocessable'], hint: 'abp keys list shows the keys that are live, with their ids.' },
  { about: 'engine', codes: ['unprocessable'], hint: 'abp capabilities shows every engine; abp.toml adds more of them.' },
  { about: 'key_id', codes: ['not_found'], hint: 'abp keys list shows the keys that are live, with their ids.' },
  { about: 'agent_id', codes: ['not_found', 'conflict'], hint: 'abp agents list shows the agents and whether they are active.' },
  { about: 'session_id', codes: ['not_found'], hint: 'abp agents sessions shows the sessions; abp chat AGENT begins one.' },
  {
    about: 'capability_id',
    codes: ['not_found', 'unprocessable'],
    hint: 'docs/agents-and-capabilities.md names those that come with abp; GET /v1/capabilities lists them with your own.',
  },
  { about: 'engine', codes: ['not_found', 'invalid_request'], hint: 'abp capabilities shows every engine; abp.toml adds more of them.' },
  { about: 'backend', codes: ['not_found'], hint: 'abp capabilities lists the backends; sidecars stand in abp.toml.' },
  { about: 'host', codes: ['not_found'], hint: 'Use one of the names in the message: abp host claude.' },
  { about: 'dialect', codes: ['not_found'], hint: 'abp explain --help lists the dialects.' },
  {
    about: 'cursor',
    codes: ['invalid_request'],
    hint: 'Take the cursor that the list before printed, or leave it out to begin with the first page.',
  },
  {
    about: 'agent',
    codes: ['AGENT_NOT_INSTALLED'],
    hint: ({ agent }) => `Install it with abp install ${String(agent)}, or put its command on the PATH.`,
  },
  {
    about: 'variable',
    codes: ['E007'],
    hint: ({ variable }, env) =>
      unseen(String(variable), env) ??
      `Set ${String(variable)} where the server runs and start it again, or let callers bring their own key. abp doctor shows which engines have one.`,
  },
  {
    about: 'url',
    codes: ['E007'],
    hint: ({ url, backend_id: backend }) =>
      `Look whether something answers at ${String(url)}; the address is url in [engines.${String(backend).replace(/^engine:/, '')}] of abp.toml.`,
  },
  { about: 'scope', codes: ['forbidden'], hint: 'Use a key with the scope that the message names, or run the command where the home is.' },
];

/**
 * A hint for people who have set a variable in their shell after the server was started: it reads its own at its start and does not see
 * this one.
 */
export function unseen(variable: string, env: Environment): string | undefined {
  if (env[variable] === undefined || env[variable] === '') return undefined;
  return `${variable} is set here, but the server was started without it: stop it, and start it again where the variable is set.`;
}

/** The next step in the situation of this error; where none is known, the general remedy of its code. */
export function hintOf(error: AbpError, env: Environment = {}): string {
  if (error.hint !== undefined) return error.hint;
  const fitting = SITUATIONS.find(({ about, codes }) => codes.includes(error.code) && error.details[about] !== undefined);
  if (fitting === undefined) return error.row.remedy;
  return typeof fitting.hint === 'string' ? fitting.hint : fitting.hint(error.details, env);
}
