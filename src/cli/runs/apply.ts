import { pathGlob } from '../../base/glob.ts';
import { homePath } from '../../home/home.ts';
import { chooseChanges, counted } from '../../runtime/workspaces/chosen-changes.ts';
import { type Applied, Stage, stagesFolder } from '../../runtime/workspaces/stages.ts';
import type { Context } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import type { Paint } from '../output.ts';
import { runOf } from '../receipts/parameters.ts';

/** Brings what a staged run changed into its workspace, all of it or nothing. `wanted` are globs of changes that are held back otherwise. */
export async function applyRun(context: Context, run: string, wanted: readonly string[]): Promise<number> {
  const stage = Stage.open(stagesFolder(homePath(context.homePath)), runOf(run));
  if (stage === undefined) {
    throw new CliError('not_found', `there is no stage of ${run}`, {
      hint: 'Runs have one when they are started with --staged; old ones are removed after two weeks.',
    });
  }
  const globs = wanted.map(pathGlob);
  const result = await stage.apply((path) => globs.some((matches) => matches(path)));
  const shown = {
    run_id: run,
    workspace: stage.source,
    ...result,
    held: result.held.map(({ path, held }) => ({ path, reason: held ?? '' })),
  };
  context.output.print(shown, () => render(result, stage.source, context.output.paint));
  return result.conflicts.length === 0 ? EXITS.ok.code : EXITS.refused.code;
}

/** Says how to bring the work of a run back that ended in its stage; nothing where it had none, or changed nothing. */
export async function tellOfStage({ output, io, homePath: home }: Context, run: string): Promise<void> {
  const stage = Stage.open(stagesFolder(homePath(home)), runOf(run));
  if (output.json || stage?.state !== 'finished') return;
  const { chosen, held } = chooseChanges(await stage.changes(), () => false);
  const count = counted(chosen).length;
  if (count === 0 && held.length === 0) return;
  const kept = held.length === 0 ? '' : `; ${held.length} held back`;
  const { faint } = output.paint;
  io.stderr.write(`hint: abp apply ${run} ${faint(`brings ${changesOf(count)} from its copy to ${stage.source}${kept}`)}\n`);
}

const changesOf = (count: number): string => (count === 1 ? '1 change' : `${count} changes`);

function render({ conflicts, applied, held }: Applied, workspace: string, paint: Paint): string {
  if (conflicts.length > 0) {
    const lines = conflicts.map(({ path, reason }) => `  ${path}: ${reason}`);
    return [
      paint.bad(`Nothing was changed in ${workspace}: ${conflicts.length === 1 ? '1 conflict' : `${conflicts.length} conflicts`}.`),
      ...lines,
    ].join('\n');
  }
  const left = held.map(({ path, held: reason }) => `  ${path}: ${reason ?? ''}`);
  const kept = left.length === 0 ? [] : [`${left.length} held back; name them with --with to apply them:`, ...left];
  return [paint.good(`${changesOf(applied)} applied to ${workspace}.`), ...kept].join('\n');
}
