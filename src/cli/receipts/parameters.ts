import { parseRunId, type RunId } from '../../contract/run-id.ts';
import { CliError } from '../failure.ts';
import { optional, type Parameter } from '../parameter.ts';
import type { Filter } from './source.ts';

/** A date or a time, in milliseconds since the epoch. */
function time(syntax: string, description: string): Parameter<number | undefined> {
  const text = optional(syntax, description);
  return {
    ...text,
    read: (raw) => {
      const given = text.read(raw);
      if (given === undefined) return undefined;
      const parsed = Date.parse(given);
      if (!Number.isNaN(parsed)) return parsed;
      throw new CliError('usage', `'${given}' is not a time`, { hint: 'Write 2027-01-31 or 2027-01-31T08:00:00Z.' });
    },
  };
}

/** A whole number from 1 on. */
export function natural(syntax: string, description: string): Parameter<number | undefined> {
  const text = optional(syntax, description);
  return {
    ...text,
    read: (raw) => {
      const given = text.read(raw);
      if (given === undefined) return undefined;
      if (/^[1-9]\d{0,14}$/.test(given)) return Number(given);
      throw new CliError('usage', `'${given}' is not a number from 1 on`, { hint: 'Write it in digits.' });
    },
  };
}

/** Options by which every command on several receipts chooses them. */
export const filters = {
  engine: optional('--engine <id>', 'of this engine'),
  model: optional('--model <name>', 'of this model'),
  status: optional('--status <name>', 'completed, failed, cancelled, running, archived or deleted'),
  plane: optional('--plane <name>', 'gateway, run or agent'),
  key: optional('--key <id>', 'of calls with this key'),
  tag: optional('--tag <name>', 'with this tag'),
  since: time('--since <time>', 'started at this date or time, or later'),
  until: time('--until <time>', 'started before this date or time'),
};

/** The filter that those options make. */
export function filterOf({ engine, model, status, plane, key, tag, since, until }: Filter): Filter {
  return { engine, model, status, plane, key, tag, since, until };
}

/** A time before which runs ended. */
export const before = time('--before <time>', 'of runs that ended before this date or time');

export function runOf(text: string): RunId {
  const run = parseRunId(text);
  if (run !== undefined) return run;
  throw new CliError('usage', `'${text}' is not a run id`, { hint: 'A run id is run_ and 32 hex digits; it stands in X-ABP-Run-Id.' });
}
