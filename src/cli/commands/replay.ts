import { defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import type { Paint } from '../output.ts';
import { optional, required } from '../parameter.ts';
import { withServer } from '../recorded/home-server.ts';
import type { Rerun } from '../recorded/rerun.ts';
import { table } from '../table.ts';

const MOST_SHOWN = 60;

export const command = defineCommand({
  arguments: { runId: required('<run-id>', 'the recorded run, run_… or a UUID') },
  options: {
    engine: optional('--engine <engine>', 'run it on another engine (default its own)'),
    key: optional('--key <key>', 'your own key, for an engine that has none here'),
  },
  examples: ['abp replay run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b', 'abp replay run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b --engine sim --json'],
  async run(context, { runId, engine, key }) {
    const { rerun } = await import('../recorded/rerun.ts');
    const result = await withServer(context, (server) => rerun(server, { run: runId, engine, key }));
    context.output.print(view(result), () => render(result, context.output.paint));
    return result.sameAnswer ? EXITS.ok.code : EXITS.general.code;
  },
});

/** The result as programs read it. */
function view({ runId, engine, againRunId, againEngine, same, sameAnswer, differs, answer }: Rerun): object {
  return { run_id: runId, engine, again: { run_id: againRunId, engine: againEngine }, same, same_answer: sameAnswer, differs, answer };
}

function render(result: Rerun, paint: Paint): string {
  const { runId, engine, againRunId, againEngine, same, sameAnswer, differs, answer } = result;
  const verdict = same
    ? paint.good('the same: both receipts have the same hash')
    : sameAnswer
      ? paint.warn('the same answer, another receipt')
      : paint.bad('another answer');
  const rows = differs.map(({ part, before, after }) => [part, shown(before), paint.faint('→'), shown(after)]);
  const tints = { ' ': paint.faint, '-': paint.bad, '+': paint.good } as const;
  return [
    `${runId} on ${engine}`,
    `${againRunId} on ${againEngine}`,
    verdict,
    ...(rows.length === 0 ? [] : ['', table(rows)]),
    ...(answer.length === 0 ? [] : ['', ...answer.map(({ sign, text }) => tints[sign](`${sign} ${text}`))]),
  ].join('\n');
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN - 1)}…`;
}
