import { Plane, RunStatus } from '../../contract/receipts/parts.ts';
import { parseRunId, type RunId } from '../../contract/run-id.ts';
import { ROW_ORDERS, type RowOrder } from '../../gateway/api/run-rows.ts';
import type { RowList } from '../../gateway/rows/row-page.ts';
import { CliError } from '../failure.ts';
import { flag, optional, type Parameter } from '../parameter.ts';
import { timeOf } from '../time.ts';
import type { ExportRange, Filter } from './source.ts';

/** A time, also one such as 24h or yesterday, in milliseconds since the epoch. */
function time(syntax: string, description: string): Parameter<number | undefined> {
  const text = optional(syntax, description);
  return {
    ...text,
    read: (raw) => {
      const given = text.read(raw);
      if (given === undefined) return undefined;
      return timeOf(given);
    },
  };
}

/** A whole number from 1 on, up to the greatest where there is one. */
export function natural(syntax: string, description: string, most = Number.MAX_SAFE_INTEGER): Parameter<number | undefined> {
  const text = optional(syntax, description);
  return {
    ...text,
    read: (raw) => {
      const given = text.read(raw);
      if (given === undefined) return undefined;
      if (/^[1-9]\d{0,14}$/.test(given) && Number(given) <= most) return Number(given);
      const to = most === Number.MAX_SAFE_INTEGER ? 'on' : `to ${most}`;
      throw new CliError('usage', `'${given}' is not a number from 1 ${to}`, { hint: 'Write it in digits.' });
    },
  };
}

/** One of some words: a filter by a word that does not exist would find nothing and look like an answer. */
function oneOf(syntax: string, description: string, words: readonly string[]): Parameter<string | undefined> {
  const text = optional(syntax, description);
  return {
    ...text,
    read: (raw) => {
      const given = text.read(raw);
      if (given === undefined || words.includes(given)) return given;
      throw new CliError('usage', `'${given}' is not one of ${words.join(', ')}`, { hint: 'abp receipts list --help shows every option.' });
    },
  };
}

/** Part of a chain, from one entry to another. */
export function rangeOf(from: number | undefined, to: number | undefined): ExportRange {
  if (from === undefined || to === undefined || from <= to) return { from, to };
  throw new CliError('usage', `there is nothing from ${from} to ${to}`, { hint: 'The first entry comes first.' });
}

/** Options by which every command on several receipts chooses them. */
export const filters = {
  engine: optional('--engine <id>', 'of this engine'),
  model: optional('--model <name>', 'of this model'),
  status: oneOf('--status <name>', 'completed, failed, cancelled, running, archived or deleted', RunStatus.options),
  plane: oneOf('--plane <name>', 'gateway, run or agent', Plane.options),
  key: optional('--key <key>', 'of calls with this key: its id or its name'),
  tag: optional('--tag <name>', 'with this tag'),
  since: time('--since <time>', 'started at this date or time, or later'),
  until: time('--until <time>', 'started before this date or time'),
};

/** Options of lists of lines, beside the filters. */
export const rowOptions = {
  failed: flag('--failed', 'that failed; short for --status failed'),
  parent: optional('--parent <run-id>', 'made for this run'),
  minCost: amount('--min-cost <dollars>', 'that cost at least so much'),
  text: optional('--text <words>', 'with this text in task, model or message, or these digits in the id'),
  sort: oneOf('--sort <order>', 'by cost, duration or tokens, greatest first (default started, newest first)', ROW_ORDERS),
  count: flag('--count', 'say how many there are'),
};

/** The list that those options and the filters ask for. */
export function rowListOf(chosen: Filter & RowChoice): RowList {
  const { failed, parent, minCost, text, sort, count } = chosen;
  if (failed && chosen.status !== undefined && chosen.status !== 'failed')
    throw new CliError('usage', `--failed and --status ${chosen.status} say two things`, { hint: 'Leave one of them out.' });
  const filter = filterOf(failed ? { ...chosen, status: 'failed' } : chosen);
  return {
    ...(filter as RowList), // `status` and `plane` are words of the lists that their parameters check
    ...(parent === undefined ? {} : { parent: runOf(parent) }),
    ...(minCost === undefined ? {} : { min_cost_nano_usd: Math.round(minCost * 1e9) }),
    ...(text === undefined ? {} : { q: text }),
    ...(sort === undefined ? {} : { sort: sort as RowOrder }), // checked by its parameter
    ...(count ? { total: true } : {}),
  };
}

interface RowChoice {
  readonly failed: boolean;
  readonly parent: string | undefined;
  readonly minCost: number | undefined;
  readonly text: string | undefined;
  readonly sort: string | undefined;
  readonly count: boolean;
}

/** A sum of dollars. */
function amount(syntax: string, description: string): Parameter<number | undefined> {
  const text = optional(syntax, description);
  return {
    ...text,
    read: (raw) => {
      const given = text.read(raw)?.replace(/^\$/, '');
      if (given === undefined) return undefined;
      if (/^\d{1,9}(?:\.\d{1,9})?$/.test(given)) return Number(given);
      throw new CliError('usage', `'${given}' is not a sum of dollars`, { hint: 'Write it as 0.05 or 12.' });
    },
  };
}

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
