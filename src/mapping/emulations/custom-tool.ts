import { parseShallowObject } from '../../base/json-limits.ts';
import type { FateNote } from '../../dialects/dialect.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import type { IrAnswerEvent } from '../../ir/event.ts';
import type { IrPart } from '../../ir/part.ts';
import type { IrCustomTool, IrFunctionTool, IrRequest } from '../../ir/request.ts';
import type { AnswerChange, AnswerFilter } from '../answer-filter.ts';
import { WholeTexts } from '../whole-texts.ts';

/** Free-form tools as functions, with the way back. */
export interface CustomTools {
  readonly request: IrRequest;
  readonly notes: readonly FateNote[];
  readonly change: AnswerChange;
}

/** A tool that takes free text, on an engine that knows only functions: a function with one string. The caller sees its own tool called. */
export function customAsFunctions(request: IrRequest): CustomTools | undefined {
  const custom = request.tools.filter((tool) => tool.kind === 'custom');
  const inHistory = request.messages.some((message) => message.parts.some(isCustomCall));
  if (custom.length === 0 && !inHistory) return undefined;
  return {
    request: {
      ...request,
      tools: request.tools.map((tool) => (tool.kind === 'custom' ? asFunction(tool) : tool)),
      messages: request.messages.map(withFunctionCalls),
    },
    notes: [...custom, ...request.messages.flatMap(({ parts }) => parts.filter(isCustomCall))].map(
      ({ at }): FateNote => ({
        concept: 'custom_tool',
        fate: 'emulated',
        code: 'custom_as_function',
        note: 'a function with one string',
        ...(at === undefined ? {} : { at }),
      }),
    ),
    change: { kind: 'custom-tools', names: new Set(custom.map(({ name }) => name)) },
  };
}

function isCustomCall(part: IrPart): boolean {
  return part.kind === 'tool-call' && part.custom === true;
}

function asFunction(tool: IrCustomTool): IrFunctionTool {
  const format = tool.format === undefined ? '' : `\n\nThe input must follow this format: ${JSON.stringify(tool.format)}`;
  return {
    kind: 'function',
    name: tool.name,
    description: `${tool.description ?? ''}${format}`,
    schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'], additionalProperties: false },
    ...(tool.at === undefined ? {} : { at: tool.at }),
  };
}

function withFunctionCalls(message: IrMessage): IrMessage {
  if (!message.parts.some(isCustomCall)) return message;
  const parts = message.parts.map((part): IrPart => {
    if (part.kind !== 'tool-call' || part.custom !== true) return part;
    const { custom: _gone, ...call } = part;
    return { ...call, arguments: JSON.stringify({ input: part.arguments }) };
  });
  return { ...message, parts };
}

/** Calls the caller's own tool: the string inside the arguments is its input. */
export class CustomFilter implements AnswerFilter {
  readonly #names: ReadonlySet<string>;
  readonly #texts = new WholeTexts();

  constructor(names: ReadonlySet<string>) {
    this.#names = names;
  }

  filter(event: IrAnswerEvent): IrAnswerEvent[] {
    if (event.type === 'part-start' && event.part.kind === 'tool-call' && this.#names.has(event.part.name)) {
      this.#texts.hold(event.index);
      return [{ ...event, part: { ...event.part, custom: true } }];
    }
    return this.#texts.filter(event, (text) => {
      const input = parseShallowObject(text)?.input;
      return typeof input === 'string' ? input : text;
    });
  }
}
