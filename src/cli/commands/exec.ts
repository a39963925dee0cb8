import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineCommand } from '../command.ts';
import { withConfig } from '../config.ts';
import { CliError } from '../failure.ts';
import { list, optional, words } from '../parameter.ts';

export const command = defineCommand({
  arguments: { command: words('<command...>', 'the command and its arguments, after --') },
  options: {
    replay: optional('--replay <file>', 'answer every call from this file of recordings; what it lacks is refused'),
    recordMissing: optional('--record-missing <file>', 'answer from this file; ask the engine for what it lacks and add that to the file'),
    ignore: list('--ignore <pointers>', 'JSON pointers, or coding agents, in which a request may differ from its recording'),
    engine: optional('--engine <engine>', 'send every SDK to this engine (default: by the name of the model)'),
  },
  examples: [
    'abp exec --record-missing test/recorded.jsonl -- pytest',
    'abp exec --replay test/recorded.jsonl -- npm test',
    'abp exec --engine sim -- python app.py',
  ],
  async run(context, { command: words, replay, recordMissing, ignore, engine }) {
    const [program, ...args] = words;
    if (program === undefined) throw new CliError('usage', 'exec needs a command', { hint: 'Write it after --: abp exec -- pytest' });
    if (replay !== undefined && recordMissing !== undefined) {
      throw new CliError('usage', '--replay and --record-missing exclude each other', {
        hint: 'Use --replay where nothing may be recorded.',
      });
    }
    const file = replay ?? recordMissing;
    if (replay !== undefined && !existsSync(replay)) {
      throw new CliError('not_found', `there is no file ${resolve(replay)} of recordings`, {
        hint: `Make it with abp exec --record-missing ${replay} -- …`,
      });
    }
    const { execThroughServer } = await import('../recorded/exec.ts');
    return await withConfig(() =>
      execThroughServer(context, {
        program,
        args,
        engine,
        ...(file === undefined ? {} : { recordings: { file: resolve(file), ask: recordMissing !== undefined, ignore } }),
      }),
    );
  },
});
