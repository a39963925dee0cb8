// Stages a folder, works in the copy as an agent would, compares and applies, and says on the standard output what it begins. It is killed.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseRunId } from '../../src/contract/run-id.ts';
import { STAGE_LIMITS, Stage } from '../../src/runtime/workspaces/stages.ts';

const [source = '', stages = '', run = ''] = process.argv.slice(2);
const runId = parseRunId(run);
if (runId === undefined) throw new Error('a run id is needed');

const begin = (phase: string): void => void process.stdout.write(`${phase}\n`);

begin('staging');
const plan = { source, include: [], exclude: [], denyRead: [], denyWrite: [], borrows: false, limits: STAGE_LIMITS };
const stage = await Stage.make(stages, runId, plan);
begin('running');
for (let at = 0; at < 60; at += 1) {
  writeFileSync(join(stage.tree, `changed-${at}`), `${at} changed\n`);
  rmSync(join(stage.tree, `gone-${at}`));
  mkdirSync(join(stage.tree, `new-${at}`));
  writeFileSync(join(stage.tree, `new-${at}`, 'file'), `${at} new\n`);
}
begin('diffing');
await stage.finish();
begin('applying');
await stage.apply();
begin('done');
