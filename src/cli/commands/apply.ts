import { defineCommand } from '../command.ts';
import { list, required } from '../parameter.ts';
import { applyRun } from '../runs/apply.ts';

export const command = defineCommand({
  arguments: { runId: required('<run-id>', 'a run that worked in a staged copy') },
  options: { with: list('--with <glob>', 'apply these changes too, which are held back otherwise; repeatable') },
  examples: ['abp apply run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b', 'abp apply run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b --with ".vscode/**"'],
  run: async (context, { runId, with: wanted }) => await applyRun(context, runId, wanted),
});
