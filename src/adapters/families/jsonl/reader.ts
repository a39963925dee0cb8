import type { JsonObject } from '../../../base/json.ts';
import { parseShallowObject } from '../../../base/json-limits.ts';
import type { EventDraft, Heard } from '../../adapter.ts';
import { textAt } from '../lines/fields.ts';

/** Enters one line into the account of a run and says which events it makes. */
export type LineHandler<Account> = (account: Account, line: JsonObject) => Heard | readonly EventDraft[];

/** The lines of one agent, by their type. */
export type LineHandlers<Account> = Readonly<Record<string, LineHandler<Account>>>;

/** For lines that are told for screens and change nothing that a run reports. */
export const nothing: LineHandler<unknown> = () => [];

/** Reads one line by the table of its type. What is no object, or of a type that the table does not know, stays a line of the log. */
export function readLine<Account>(
  account: Account,
  handlers: LineHandlers<Account>,
  text: string,
  typeOf: (line: JsonObject) => string | undefined = (line) => textAt(line.type),
): Heard {
  const line = parseShallowObject(text);
  const type = line === undefined ? undefined : typeOf(line);
  const handler = type !== undefined && Object.hasOwn(handlers, type) ? handlers[type] : undefined;
  if (line === undefined || handler === undefined)
    return { events: text.trim() === '' ? [] : [{ type: 'log', source: 'stdout', line: text }] };
  const heard = handler(account, line);
  return 'events' in heard ? heard : { events: heard };
}
