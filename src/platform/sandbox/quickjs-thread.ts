import { stripTypeScriptTypes } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { evaluate } from './quickjs.ts';
import { type Report, STARTED, type Task } from './thread-protocol.ts';

const started = (): void => parentPort?.postMessage(STARTED);

/** Types are removed here as well: the parser reads hostile text, and this thread has limits and an end. */
async function report(task: Task): Promise<Report> {
  if (task.language === 'javascript') return await evaluate(task, started);
  let code: string;
  try {
    code = stripTypeScriptTypes(task.code);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { status: 'threw', stdout: '', truncated: false, error: `SyntaxError: ${reason}` };
  }
  return await evaluate({ ...task, language: 'javascript', code }, started);
}

parentPort?.postMessage(await report(workerData as Task)); // what sandbox.ts starts the thread with
