import { z } from 'zod';
import type { Json, JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { type Tool, type ToolContext, ToolFailure, type ToolOutcome } from './tool.ts';

type Schema = z.ZodType<object>;

/** How a built-in tool is written: its parameters are one schema, and `run` gets them parsed. */
export interface ToolDefinition<S extends Schema> extends Pick<Tool, 'name' | 'description' | 'timeoutMs'> {
  readonly parameters: S;
  readonly policy?: Tool['policy'];
  readonly effect?: Tool['effect'];
  /** The result; a `ToolFailure` is told to the model. */
  run(input: z.output<S>, context: ToolContext): Json | Promise<Json>;
}

export function defineTool<S extends Schema>(definition: ToolDefinition<S>): Tool {
  const { parameters, run, policy = 'auto', effect = 'idempotent', ...rest } = definition;
  return {
    ...rest,
    policy,
    effect,
    parameters: jsonSchema(parameters),
    execute: (input, context) =>
      outcome(async () => {
        const parsed = parameters.safeParse(input);
        if (!parsed.success) throw new ToolFailure(complaint(parsed.error));
        return await run(parsed.data, context);
      }),
  };
}

/** The words for the model: the output, or the sentence of a failure. Faults of ours are not failures of the tool and go on as throws. */
export async function outcome(work: () => Promise<Json>): Promise<ToolOutcome> {
  try {
    return { output: await work() };
  } catch (error) {
    if (error instanceof ToolFailure || (AbpError.is(error) && error.code !== 'internal')) return { error: error.message };
    throw error;
  }
}

/** The schema as the model reads it. */
function jsonSchema(schema: z.ZodType): JsonObject {
  const { $schema: _draft, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest as JsonObject; // zod writes plain JSON
}

function complaint(error: z.ZodError): string {
  return error.issues.map((issue) => [issue.path.join('.'), issue.message].filter((part) => part !== '').join(': ')).join('; ');
}
