import type { AbpError } from '../contract/errors.ts';

/** A situation that a person can be in, told from the error, and the next step out of it. */
interface Situation {
  /** Members of the error's details that show it. */
  readonly about: string;
  readonly codes: readonly AbpError['code'][];
  readonly hint: string;
}

const SITUATIONS: readonly Situation[] = [
  {
    about: 'run_id',
    codes: ['not_found'],
    hint: 'abp receipts list shows the runs of this home; the id stands in X-ABP-Run-Id of the answer.',
  },
  { about: 'run_id', codes: ['conflict'], hint: 'Wait until the run has ended; abp receipts show RUN_ID says how far it is.' },
  { about: 'budget', codes: ['not_found'], hint: 'abp budgets list shows the budgets, with their ids.' },
  { about: 'key_id', codes: ['not_found'], hint: 'abp keys list shows the keys that are live, with their ids.' },
  { about: 'agent_id', codes: ['not_found', 'conflict'], hint: 'abp agents list shows the agents and whether they are active.' },
  { about: 'session_id', codes: ['not_found'], hint: 'abp chat AGENT begins a session; the session may have been deleted.' },
  { about: 'capability_id', codes: ['not_found'], hint: 'GET /v1/capabilities lists the capabilities that agents can have.' },
  { about: 'engine', codes: ['not_found'], hint: 'abp capabilities shows every engine; abp.toml adds more of them.' },
  { about: 'dialect', codes: ['not_found'], hint: 'abp explain --help lists the dialects.' },
  {
    about: 'key_variable',
    codes: ['E007'],
    hint: 'Set the variable for the server and start it again, or let callers bring their own key.',
  },
  { about: 'scope', codes: ['forbidden'], hint: 'Use a key with the scope that the message names, or run the command where the home is.' },
];

/** The next step in the situation of this error; where none is known, the general remedy of its code. */
export function hintOf(error: AbpError): string {
  const fitting = SITUATIONS.find(({ about, codes }) => codes.includes(error.code) && error.details[about] !== undefined);
  return error.hint ?? fitting?.hint ?? error.row.remedy;
}
