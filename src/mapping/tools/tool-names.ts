import { sha256 } from '../../base/canonical-json.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import type { IrAnswerEvent } from '../../ir/event.ts';
import type { IrRequest, IrTool, IrToolChoice } from '../../ir/request.ts';
import type { AnswerFilter } from '../answer-filter.ts';

/** Tool names that the target's wire does not take, each with the one sent instead. */
export type Renames = ReadonlyMap<string, string>;

export function renamesFor(request: IrRequest, rule: RegExp): Renames {
  const declared = request.tools.flatMap(({ name, kind }) => (kind === 'hosted' ? [] : [name]));
  // A tool that is no longer declared may still stand in the history.
  const called = request.messages.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'tool-call' ? [part.name] : [])));
  return new Map([...declared, ...called].filter((name) => !rule.test(name)).map((name) => [name, cleanName(name)]));
}

/** A letter, then letters, digits, `_` and `-`, fit every wire; the hash keeps two names that clean up alike apart. */
function cleanName(name: string): string {
  const clean = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  return `${(/^[a-zA-Z]/.test(clean) ? clean : `t_${clean}`).slice(0, 55)}_${sha256(name).slice(0, 8)}`;
}

export function renameTools(request: IrRequest, renames: Renames): IrRequest {
  if (renames.size === 0) return request;
  const to = (name: string): string => renames.get(name) ?? name;
  const tool = (one: IrTool): IrTool => ({ ...one, name: to(one.name) });
  return {
    ...request,
    tools: request.tools.map(tool),
    ...(request.toolChoice === undefined ? {} : { toolChoice: renameChoice(request.toolChoice, to) }),
    messages: request.messages.map((message) => renameCalls(message, to)),
  };
}

function renameChoice(choice: IrToolChoice, to: (name: string) => string): IrToolChoice {
  if (choice.kind === 'tool') return { kind: 'tool', name: to(choice.name) };
  return choice.kind === 'allowed' ? { ...choice, names: choice.names.map(to) } : choice;
}

function renameCalls(message: IrMessage, to: (name: string) => string): IrMessage {
  return { ...message, parts: message.parts.map((part) => (part.kind === 'tool-call' ? { ...part, name: to(part.name) } : part)) };
}

/** Gives the caller its own names back. */
export function nameFilter(renames: Renames): AnswerFilter {
  const back = new Map([...renames].map(([from, to]) => [to, from]));
  return {
    filter: (event: IrAnswerEvent) => {
      const own = event.type === 'part-start' && event.part.kind === 'tool-call' ? back.get(event.part.name) : undefined;
      return own === undefined || event.type !== 'part-start' || event.part.kind !== 'tool-call'
        ? [event]
        : [{ ...event, part: { ...event.part, name: own } }];
    },
  };
}
