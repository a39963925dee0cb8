import { AbpError } from '../../contract/errors.ts';
import type { IrAnswerEvent } from '../../ir/event.ts';
import type { IrFunctionTool, IrRequest } from '../../ir/request.ts';
import type { AnswerFilter } from '../answer-filter.ts';
import type { Emulation } from './emulation.ts';

const TOOL_NAME = 'json_answer';

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
  if (choice === 'tool' || choice === 'none' || choice === 'allowed') {
    throw new AbpError('E003', 'JSON output and this tool_choice cannot both be forced on this engine.', {
      reason: 'the JSON answer is itself a forced tool call',
      possible_interpretations: ['JSON output without tool_choice', 'tool_choice without JSON output'],
    });
  }
  const tool: IrFunctionTool = {
    kind: 'function',
    name: TOOL_NAME,
    description:
      (output.kind === 'json-schema' ? output.description : undefined) ?? 'Gives the final answer as JSON. Call it exactly once.',
    schema: output.kind === 'json-schema' ? output.schema : { type: 'object', additionalProperties: true },
  };
  const others = request.tools.length > 0;
  const { output: _taken, ...rest } = request;
  return {
    capability: output.kind === 'json' ? 'json_mode' : 'structured_output_json_schema',
    detail: `forced tool use: the answer is the arguments of the tool ${TOOL_NAME}`,
    note: { concept: output.kind === 'json' ? 'json_mode' : 'json_schema', fate: 'emulated', note: `forced tool use (${TOOL_NAME})` },
    request: {
      ...rest,
      tools: [...request.tools, tool],
      toolChoice: others ? { kind: 'required' } : { kind: 'tool', name: TOOL_NAME },
      parallelToolCalls: false,
    },
    change: { kind: 'forced-tool' },
  };
}

export class ForcedToolFilter implements AnswerFilter {
  readonly #answers = new Set<number>();
  #otherCalls = false;

  filter(event: IrAnswerEvent): IrAnswerEvent[] {
    if (event.type === 'part-start' && event.part.kind === 'tool-call') {
      if (event.part.name !== TOOL_NAME) {
        this.#otherCalls = true;
        return [event];
      }
      this.#answers.add(event.index);
      return [{ type: 'part-start', index: event.index, part: { kind: 'text' } }];
    }
    if (event.type === 'part-end' && this.#answers.has(event.index)) return [{ type: 'part-end', index: event.index }];
    if (event.type === 'message-end' && event.finish === 'tool-calls' && !this.#otherCalls) return [{ ...event, finish: 'stop' }];
    return [event];
  }
}
