import { Worker } from 'node:worker_threads';
import { ownModule } from '../../base/own-files.ts';
import type { ProcessIdentity } from '../../base/process-table.ts';
import { bareThreadStart } from '../../base/threads.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Conflict } from './apply-work.ts';
import type { Change } from './change-set.ts';
import type { Compared, Staged, StagePlan } from './stage-work.ts';

/** Work on trees of files, which blocks the thread that does it. */
export type StageTask =
  | { readonly kind: 'make'; readonly folder: string; readonly plan: StagePlan }
  | { readonly kind: 'compare'; readonly folder: string; readonly plan: StagePlan }
  | { readonly kind: 'measure'; readonly folder: string }
  | { readonly kind: 'copy'; readonly folder: string; readonly plan: StagePlan }
  | { readonly kind: 'remove'; readonly folder: string }
  | {
      readonly kind: 'apply';
      readonly stage: string;
      readonly tree: string;
      readonly root: string;
      readonly changes: readonly Change[];
      readonly owner: ProcessIdentity | undefined;
      readonly onlyJudge: boolean;
    };

export type StageAnswer =
  | { readonly kind: 'made'; readonly staged: Staged }
  | ({ readonly kind: 'compared' } & Compared)
  | { readonly kind: 'measured'; readonly bytes: number }
  | { readonly kind: 'copied' }
  | { readonly kind: 'removed' }
  | { readonly kind: 'applied'; readonly conflicts: readonly Conflict[]; readonly applied: number }
  | { readonly kind: 'failed'; readonly message: string; readonly code: string | undefined; readonly tooLarge: boolean };

type AnswerOf<K extends StageAnswer['kind']> = Extract<StageAnswer, { kind: K }>;

/** Does the work on a thread of its own, so that nobody else waits for a disk. */
export async function onThread<K extends StageAnswer['kind']>(task: StageTask, kind: K): Promise<AnswerOf<K>> {
  const thread = idle.pop() ?? new StageThread();
  const answer = await thread.do(task);
  if (answer.kind === 'failed') throw failure(task, answer);
  if (answer.kind !== kind) throw new AbpError('internal', `the work on a stage answered ${answer.kind}`);
  // The kind has just been compared.
  return answer as AnswerOf<K>;
}

/** Threads that have done their work. To start one costs more than most of what they do, and a run needs one at both its ends. */
const idle: StageThread[] = [];
const MOST_IDLE = 2;
const IDLE_MS = 30_000;

class StageThread {
  readonly #worker = new Worker(ownModule('runtime/workspaces/stage-thread'), bareThreadStart());
  #asked: PromiseWithResolvers<StageAnswer> | undefined;
  #leaving: NodeJS.Timeout | undefined;

  constructor() {
    this.#worker.on('message', (answer: StageAnswer) => this.#answered(answer));
    this.#worker.on('error', (error) => this.#asked?.reject(error));
    this.#worker.on('exit', () => {
      this.#asked?.reject(new AbpError('internal', 'the work on a stage ended without an answer'));
      this.#forget();
    });
  }

  async do(task: StageTask): Promise<StageAnswer> {
    clearTimeout(this.#leaving);
    // A command that waits for nothing else must not end before its answer.
    this.#worker.ref();
    this.#asked = Promise.withResolvers();
    this.#worker.postMessage(task);
    return await this.#asked.promise;
  }

  /** Waits for the next one who needs a thread, but not for long, and keeps no process alive meanwhile. */
  #answered(answer: StageAnswer): void {
    this.#worker.unref();
    if (idle.length < MOST_IDLE) idle.push(this);
    this.#leaving = setTimeout(() => this.#leave(), idle.includes(this) ? IDLE_MS : 0).unref();
    this.#asked?.resolve(answer);
    this.#asked = undefined;
  }

  #leave(): void {
    this.#forget();
    void this.#worker.terminate();
  }

  #forget(): void {
    const at = idle.indexOf(this);
    if (at !== -1) idle.splice(at, 1);
  }
}

const DOING: Readonly<Record<StageTask['kind'], string>> = {
  make: 'The workspace could not be staged',
  compare: 'The stage could not be compared',
  measure: 'The stage could not be measured',
  copy: 'The work could not be copied for its check',
  remove: 'The stage could not be removed',
  apply: 'The changes could not be applied, and nothing was changed',
};

const LONGEST_MESSAGE = 600;

/** The system names the whole path, which an agent can make as long as it likes. */
function shortened(message: string): string {
  if (message.length <= LONGEST_MESSAGE) return message;
  return `${message.slice(0, LONGEST_MESSAGE / 2)} … ${message.slice(-LONGEST_MESSAGE / 2)}`;
}

function failure(task: StageTask, { message, tooLarge, code }: AnswerOf<'failed'>): AbpError {
  const advice =
    tooLarge && task.kind === 'make' ? ' Leave parts of it out with exclude, or name the parts that are needed with include.' : '';
  const known = tooLarge || code !== undefined;
  const details = tooLarge ? { too_large: true } : {};
  return new AbpError(known ? 'invalid_request' : 'internal', `${DOING[task.kind]}: ${shortened(message)}.${advice}`, details);
}
