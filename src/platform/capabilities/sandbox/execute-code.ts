import { z } from 'zod';
import type { JsonObject } from '../../../base/json.ts';
import { DEFAULT_LIMITS, type Execution, type Limits } from '../../sandbox/execution.ts';
import type { PythonSandbox } from '../../sandbox/python.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { type Tool, ToolFailure } from '../../tools/tool.ts';

const MIB = 1024 * 1024;
const MAX_CODE = 200_000;
/** For the start of the thread or process, and for waiting in line. */
const OVERHEAD_MS = 90_000;

export interface ExecuteCodeOptions {
  readonly javascript: Sandbox;
  readonly python: PythonSandbox;
  readonly config: JsonObject;
}

export async function executeCode({ javascript, python, config }: ExecuteCodeOptions): Promise<Tool> {
  const limits = limitsOf(config);
  const noPython = await python.unavailable();
  return defineTool({
    name: 'execute_code',
    description: `Run a program in a sandbox without network. It keeps nothing: every run starts empty. Returns what it prints; for JavaScript and TypeScript also the value of the last expression. ${noPython === undefined ? PYTHON : unsupported(noPython)}`,
    parameters: z.strictObject({
      language: z.enum(['javascript', 'typescript', 'python']).describe('Each program is of one language.'),
      code: z.string().max(MAX_CODE).describe('The program.'),
    }),
    timeoutMs: limits.timeMs + OVERHEAD_MS,
    run: async ({ language, code }, { signal }) => {
      if (language !== 'python') return view(await javascript.run({ language, code }, { limits, signal }));
      const reason = await python.unavailable();
      if (reason !== undefined) throw new ToolFailure(`${unsupported(reason)} Use javascript or typescript.`);
      return view(await python.run(code, { limits, signal }));
    },
  });
}

const PYTHON = 'Python has its standard library and may write files in its working folder; it starts no other programs.';

function unsupported(reason: string): string {
  return `python is not supported here. ${reason}`;
}

/** A failure inside the program is its result, not a failure of the tool: the model sees what was printed before it. */
function view({ status, stdout, stderr, truncated, value, error }: Execution): JsonObject {
  return {
    status,
    stdout,
    ...(stderr === undefined ? {} : { stderr }),
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
