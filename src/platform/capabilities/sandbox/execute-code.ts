import { z } from 'zod';
import type { JsonObject } from '../../../base/json.ts';
import { defineTool } from '../../define-tool.ts';
import { DEFAULT_LIMITS, type Execution, type Limits } from '../../sandbox/execution.ts';
import type { PythonSandbox } from '../../sandbox/python.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Tool } from '../../tool.ts';
import { ToolFailure } from '../../tool-failure.ts';

const MIB = 1024 * 1024;
const MAX_CODE = 200_000;
/** For the start of the thread or process, and for waiting in line. */
const OVERHEAD_MS = 30_000;

export interface ExecuteCodeOptions {
  readonly javascript: Sandbox;
  readonly python: PythonSandbox;
  readonly config: JsonObject;
}

export function executeCode({ javascript, python, config }: ExecuteCodeOptions): Tool {
  const limits = limitsOf(config);
  return defineTool({
    name: 'execute_code',
    description:
      'Run a program in a sandbox without network and files. Returns what it prints; for JavaScript and TypeScript also the value of the last expression.',
    parameters: z.strictObject({
      language: z.enum(['javascript', 'typescript', 'python']).describe('python only where this server can confine it.'),
      code: z.string().max(MAX_CODE).describe('The program.'),
    }),
    timeoutMs: limits.timeMs + OVERHEAD_MS,
    run: async ({ language, code }, { signal }) => {
      if (language !== 'python') return view(await javascript.run({ language, code }, { limits, signal }));
      const unavailable = await python.unavailable();
      if (unavailable !== undefined) throw new ToolFailure(`python is not supported here. ${unavailable} Use javascript or typescript.`);
      return view(await python.run(code, { limits, signal }));
    },
  });
}

/** What goes wrong inside the program is its result, not a failure of the tool: the model sees what was printed before it. */
function view({ status, stdout, truncated, value, error }: Execution): JsonObject {
  return {
    status,
    stdout,
    ...(truncated ? { truncated } : {}),
    ...(value === undefined ? {} : { value }),
    ...(error === undefined ? {} : { error }),
  };
}

function limitsOf({ timeout_ms: timeMs, memory_mb: memory }: JsonObject): Limits {
  return {
    ...DEFAULT_LIMITS,
    ...(typeof timeMs === 'number' ? { timeMs } : {}),
    ...(typeof memory === 'number' ? { memoryBytes: memory * MIB } : {}),
  };
}
