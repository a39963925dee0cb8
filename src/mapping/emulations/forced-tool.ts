import { AbpError } from '../../contract/errors.ts';
import type { FateNote } from '../../dialects/dialect.ts';
import type { IrAnswerEvent } from '../../ir/event.ts';
import type { IrFunctionTool, IrRequest } from '../../ir/request.ts';
import { isQuickCheck, type JsonAsked, type JsonVerdict, judgeJson } from '../../negotiation/post-processing.ts';
import type { AnswerFilter, FilterNote } from '../answer-filter.ts';
import type { Emulation } from './emulation.ts';

const TOOL_NAME = 'json_answer';
/** A schema is held by the tool that is made of it, strict or not; the tool has a name of its own. */
const SCHEMA = ['json_schema', 'schema_strict'] as const;

/** JSON output on an engine without it: the model must call a tool whose arguments are the answer, and the caller sees them as text. */
export function forcedTool(request: IrRequest, thinking: boolean): Emulation | undefined {
  const { output } = request;
  if (output === undefined) return undefined;
  if (thinking) {
    throw new AbpError('E003', 'JSON output is a forced tool call on this engine, and it cannot be forced while thinking is on.', {
      reason: 'forced tool use excludes thinking',
      possible_interpretations: ['JSON output without thinking', 'thinking without JSON output'],
    });
  }
  const choice = request.toolChoice?.kind ?? 'auto';
  if (choice === 'tool' || choice === 'allowed') {
    throw new AbpError('E003', 'JSON output and this tool_choice cannot both be forced on this engine.', {
      reason: 'the JSON answer is itself a forced tool call',
      possible_interpretations: ['JSON output without tool_choice', 'tool_choice without JSON output'],
    });
  }
  const name = freeName(request);
  const tool: IrFunctionTool = {
    kind: 'function',
    name,
    description:
      (output.kind === 'json-schema' ? output.description : undefined) ?? 'Gives the final answer as JSON. Call it exactly once.',
    schema: output.kind === 'json-schema' ? output.schema : { type: 'object', additionalProperties: true },
  };
  // A caller who forbids its own tools still wants JSON: ours alone may be called.
  const others = request.tools.length > 0 && choice !== 'none';
  const { output: _taken, ...rest } = request;
  return {
    notes: [
      ...(output.kind === 'json' ? (['json_mode'] as const) : SCHEMA).map(
        (concept): FateNote => ({
          concept,
          fate: 'emulated',
          code: 'forced_tool',
          note: `forced tool use: the answer is the arguments of the tool ${name}`,
          ...(concept === 'schema_strict' ? { ofLeaf: true } : {}),
        }),
      ),
      { concept: 'schema_name', fate: 'dropped', code: 'bookkeeping', note: `the tool is called ${name}`, ofLeaf: true },
      {
        ...{ concept: 'parallel_tool_calls', fate: 'dropped', note: 'an answer that may be JSON has room for one call', ofLeaf: true },
        code: request.parallelToolCalls === false ? 'says_what_happens_anyway' : 'forced_tool',
      },
    ],
    request: {
      ...rest,
      tools: [...request.tools, tool],
      toolChoice: others ? { kind: 'required' } : { kind: 'tool', name },
      parallelToolCalls: false,
    },
    change: { kind: 'forced-tool', name, ...(output.kind === 'json-schema' ? { schema: JSON.stringify(output.schema) } : {}) },
  };
}

/** A name that no tool of the caller has, and none had in the conversation. */
function freeName({ tools, messages }: IrRequest): string {
  const taken = new Set(tools.map(({ name }) => name));
  for (const { parts } of messages) for (const part of parts) if (part.kind === 'tool-call') taken.add(part.name);
  let name = TOOL_NAME;
  for (let number = 2; taken.has(name); number += 1) name = `${TOOL_NAME}_${number}`;
  return name;
}

/** Which tool the answer comes through, and what it must match; without a schema it must be an object. */
export interface ForcedAnswer {
  readonly name: string;
  /** As JSON text. */
  readonly schema?: string;
}

type End = Extract<IrAnswerEvent, { type: 'message-end' }>;

function wordsAround({ schema }: ForcedAnswer): FilterNote {
  const note = { fate: 'emulated', code: 'words_around_json', note: 'the caller asked for JSON; words around it were left out' } as const;
  return { concept: 'text', note, ...(schema === undefined ? { as: 'json_mode' } : {}) };
}

/**
 * Shows the arguments of our tool as the text of the answer, and holds them to what the caller asked for. Words of the model wait until
 * it is known whether they are the answer, stand around it, or lead to a call of the caller's own tools.
 */
export class ForcedToolFilter implements AnswerFilter {
  readonly #forced: ForcedAnswer;
  readonly #answers = new Set<number>();
  readonly #texts = new Set<number>();
  #held: IrAnswerEvent[] = [];
  #json = '';
  #said = '';
  #otherCalls = false;
  readonly notes: FilterNote[] = [];
  readonly #aside: boolean;
  /** The end of the answer, which waits for a verdict. */
  #waiting: { readonly asked: JsonAsked; readonly end: End } | undefined;

  /** `aside`: somebody has long questions answered on another thread; without it they are answered here. */
  constructor(forced: ForcedAnswer, aside = false) {
    this.#forced = forced;
    this.#aside = aside;
  }

  get open(): JsonAsked | undefined {
    return this.#waiting?.asked;
  }

  settle(verdict: JsonVerdict): IrAnswerEvent[] {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting === undefined ? [] : this.#settled(waiting.asked, verdict, waiting.end);
  }

  filter(event: IrAnswerEvent): IrAnswerEvent[] {
    switch (event.type) {
      case 'part-start':
        return this.#start(event);
      case 'part-delta':
        if (this.#answers.has(event.index)) this.#json += event.text;
        return this.#hold(event, event.text);
      case 'part-end':
        return this.#answers.has(event.index) ? [{ type: 'part-end', index: event.index }] : this.#hold(event, '');
      case 'message-end':
        return this.#end(event);
      default:
        return [event];
    }
  }

  #start(event: Extract<IrAnswerEvent, { type: 'part-start' }>): IrAnswerEvent[] {
    const { index, part } = event;
    if (part.kind === 'text') {
      this.#texts.add(index);
      return this.#hold(event, '');
    }
    if (part.kind !== 'tool-call') return [event];
    if (part.name === this.#forced.name) {
      this.#answers.add(index);
      return [{ type: 'part-start', index, part: { kind: 'text' } }];
    }
    this.#otherCalls = true;
    return [...this.#release(), event];
  }

  #hold(event: IrAnswerEvent, text: string): IrAnswerEvent[] {
    if (!('index' in event) || !this.#texts.has(event.index) || this.#otherCalls) return [event];
    this.#held.push(event);
    this.#said += text;
    return [];
  }

  #release(): IrAnswerEvent[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  #end(event: End): IrAnswerEvent[] {
    if (this.#otherCalls) return [...this.#release(), event];
    if (event.finish !== 'tool-calls' && event.finish !== 'stop') return [...(this.#json === '' ? this.#release() : []), event];
    // A model that did not call the tool may have said the answer all the same, bare or in a fence.
    const words = this.#json === '';
    const asked: JsonAsked = { said: words ? this.#said : this.#json, form: words ? 'words' : 'json', schema: this.#forced.schema };
    if (!this.#aside || isQuickCheck(asked)) return this.#settled(asked, judgeJson(asked), event);
    this.#waiting = { asked, end: event };
    return [];
  }

  #settled({ said, form }: JsonAsked, verdict: JsonVerdict, end: End): IrAnswerEvent[] {
    if ('problem' in verdict) return [failure(verdict.problem)];
    if (form === 'json' ? this.#said.trim() !== '' : verdict.json !== said) this.notes.push(wordsAround(this.#forced));
    return [...(form === 'words' ? this.#told(verdict.json) : []), { ...end, finish: 'stop' }];
  }

  /** The answer as the only text. */
  #told(text: string): IrAnswerEvent[] {
    const index = [...this.#texts][0] ?? 0;
    return [
      { type: 'part-start', index, part: { kind: 'text' } },
      { type: 'part-delta', index, text },
      { type: 'part-end', index },
    ];
  }
}

function failure(problem: string): IrAnswerEvent {
  return {
    type: 'error',
    error: { kind: 'server', message: `the engine’s answer is not the JSON that was asked for: ${problem}`, status: 502 },
  };
}
