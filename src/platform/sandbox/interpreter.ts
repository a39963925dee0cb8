import { z } from 'zod';
import { parseJsonObject } from '../../base/json.ts';
import { runCommand } from '../../base/subprocess.ts';

/** An interpreter that can be bound into a sandbox. */
export interface Interpreter {
  /** The program itself, not a link, a script of a version manager or a virtual environment. */
  readonly executable: string;
  /** Folders whose `lib` holds its libraries: one, or two names of the same. */
  readonly prefixes: readonly string[];
}

const ASK_MS = 30_000;
const QUESTION = `import json, os, sys
executable = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
print(json.dumps({"executable": executable, "prefixes": sorted({sys.base_prefix, os.path.realpath(sys.base_prefix)})}))
`;
const Answer = z.object({ executable: z.string().startsWith('/'), prefixes: z.array(z.string().startsWith('/')).min(1) });

/** Variables by which the usual version managers know which interpreter is meant. */
const MANAGERS = /^(?:PATH|HOME|(?:PYENV|ASDF|MISE)_\w+)$/;

/** Asks a command which interpreter it stands for; a text says why there is no answer. */
export async function askInterpreter(command: string, environment: NodeJS.ProcessEnv): Promise<Interpreter | string> {
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => MANAGERS.test(name)));
  try {
    const { code, stdout, stderr } = await runCommand(command, ['-I', '-S', '-c', QUESTION], { env, cwd: '/', timeoutMs: ASK_MS });
    const answer = Answer.safeParse(parseJsonObject(stdout));
    if (answer.success) return answer.data;
    return `${command} does not say where it lies: ${lastLine(stderr) || `it ended with ${code ?? 'a signal'}`}`;
  } catch (error) {
    return `${command} cannot be started: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
