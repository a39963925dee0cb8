import type { JsonObject } from '../../base/json.ts';
import { outcome } from '../tools/define-tool.ts';
import type { Surroundings } from '../tools/surroundings.ts';
import { type Tool, ToolFailure } from '../tools/tool.ts';
import type { TypeScriptTool } from './definition.ts';

/** For the start of the thread and for waiting in line. */
const OVERHEAD_MS = 90_000;

/** A tool that is code of a user. It computes; it reaches nothing. */
export function typescriptTool(definition: TypeScriptTool, config: JsonObject, { sandbox }: Pick<Surroundings, 'sandbox'>): Tool {
  const { name, description, policy, parameters, source, effect = 'idempotent' } = definition;
  const timeMs = definition.timeout_s * 1000;
  return {
    name,
    description,
    policy,
    parameters,
    // Code without a way out has no effect that could happen twice.
    effect,
    timeoutMs: timeMs + OVERHEAD_MS,
    execute: (input, { signal }) =>
      outcome(async () => {
        const program = { language: 'typescript', code: source, callWith: [input, config] } as const;
        const { status, value, error, stdout } = await sandbox.run(program, { limits: { timeMs }, signal });
        if (status !== 'completed' || error !== undefined) throw new ToolFailure(error ?? status);
        return value ?? (stdout === '' ? null : { stdout });
      }),
  };
}
