// Applies the stage of a run, as one of several processes that do so at once, and says what came of it.
import { parseRunId } from '../../src/contract/run-id.ts';
import { Stage } from '../../src/runtime/workspaces/stages.ts';

const [stages = '', run = ''] = process.argv.slice(2);
const runId = parseRunId(run);
if (runId === undefined) throw new Error('a run id is needed');
const { conflicts, applied } = (await Stage.open(stages, runId)?.apply()) ?? { conflicts: [], applied: -1 };
process.stdout.write(`${applied} ${conflicts.length}\n`);
