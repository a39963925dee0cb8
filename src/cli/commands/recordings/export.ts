import { closeSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { openOutput } from '../../io.ts';
import { optional } from '../../parameter.ts';
import { type HomeServer, withServer } from '../../recorded/home-server.ts';
import { SELECTION, type Selection, selectedRuns } from '../../recorded/select.ts';

export const command = defineCommand({
  arguments: {},
  options: { ...SELECTION, output: optional('--output <file>', 'write here instead of the standard output') },
  examples: ['abp recordings export --output recorded.jsonl', 'abp recordings export --tag checkout-test --output test/recorded.jsonl'],
  async run(context, { run, output: file, ...selection }) {
    const { io, output } = context;
    const target = file === undefined ? undefined : { path: resolve(file), fd: openOutput(resolve(file)) };
    let lines = 0;
    await withServer(context, async (server) => {
      for (const id of await runsOf(server, run, selection)) {
        const line = `${JSON.stringify(await server.client.call('GET', `/v1/recordings/${encodeURIComponent(id)}`))}\n`;
        if (target === undefined) io.stdout.write(line);
        else writeSync(target.fd, line);
        lines += 1;
      }
    });
    if (target === undefined) return EXITS.ok.code;
    closeSync(target.fd);
    output.print({ file: target.path, recordings: lines }, (data) => `${data.recordings} recordings in ${data.file}`);
    return EXITS.ok.code;
  },
});

/** Oldest first: of two answers to one request the engine replay serves the later line. */
async function runsOf(server: HomeServer, named: readonly string[], selection: Selection): Promise<string[]> {
  if (named.length > 0) return [...named];
  const runs: string[] = [];
  for await (const run of selectedRuns(server, selection)) runs.unshift(run);
  return runs;
}
