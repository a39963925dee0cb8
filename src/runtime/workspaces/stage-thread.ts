import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { removeTree } from '../../base/paths/remove-tree.ts';
import { applyChanges, judgeChanges } from './apply-work.ts';
import { TREE } from './change-set.ts';
import { counted } from './chosen-changes.ts';
import { compareStage, copyWork, makeStage } from './stage-work.ts';
import type { StageAnswer, StageTask } from './thread-work.ts';
import { diskOf, TooLarge } from './tree.ts';

function answer(task: StageTask): StageAnswer {
  switch (task.kind) {
    case 'make':
      return { kind: 'made', staged: makeStage(task.folder, task.plan) };
    case 'compare':
      return { kind: 'compared', ...compareStage(task.folder, task.plan) };
    case 'measure':
      return { kind: 'measured', bytes: diskOf(join(task.folder, TREE)) };
    case 'copy':
      copyWork(task.folder, task.plan);
      return { kind: 'copied' };
    case 'remove':
      removeTree(task.folder);
      return { kind: 'removed' };
    case 'apply': {
      const { conflicts, open } = judgeChanges(task.root, task.changes);
      if (conflicts.length === 0 && open.length > 0 && !task.onlyJudge) applyChanges({ ...task, changes: open });
      return { kind: 'applied', conflicts, applied: counted(open).length };
    }
  }
}

function answered(task: StageTask): StageAnswer {
  try {
    return answer(task);
  } catch (error) {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error), code, tooLarge: error instanceof TooLarge };
  }
}

// `onThread` alone sends to this thread, and only tasks.
parentPort?.on('message', (task: StageTask) => parentPort?.postMessage(answered(task)));
