import { isJsonObject, type Json } from '../../../base/json.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { flag } from '../../parameter.ts';
import { type HomeServer, withServer } from '../../recorded/home-server.ts';
import { queryOf, SELECTION, type Selection } from '../../recorded/select.ts';

export const command = defineCommand({
  arguments: {},
  options: { ...SELECTION, all: flag('--all', 'every recording of this home') },
  examples: ['abp recordings erase --tag customer-4711', 'abp recordings erase --run run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b'],
  async run(context, { run, all, ...selection }) {
    const filtered = Object.values(selection).some((value) => value !== undefined);
    if (run.length === 0 && !filtered && !all) {
      throw new CliError('usage', 'nothing is named to erase', { hint: 'Give --run, --key, --tag or --engine; --all erases everything.' });
    }
    const told = await withServer(context, async (server) => {
      const named = await eraseRuns(server, run);
      const selected = filtered || all ? await eraseSelected(server, selection) : { erased: 0, elsewhere: 0 };
      return { erased: named.erased + selected.erased, elsewhere: named.elsewhere + selected.elsewhere };
    });
    context.output.print(told, sentence);
    return EXITS.ok.code;
  },
});

interface Told {
  readonly erased: number;
  readonly elsewhere: number;
}

function sentence({ erased, elsewhere }: Told): string {
  const rest =
    elsewhere === 0
      ? ''
      : ` Nodes that are away have those of ${elsewhere} more, and erase them when they are back; nobody reads them until then.`;
  return `The bodies of ${erased} runs are erased; their receipts stay.${rest}`;
}

async function eraseRuns(server: HomeServer, runs: readonly string[]): Promise<Told> {
  let elsewhere = 0;
  for (const run of runs)
    elsewhere += toldOf(await server.client.call('DELETE', `/v1/receipts/${encodeURIComponent(run)}/bodies`)).elsewhere;
  return { erased: runs.length - elsewhere, elsewhere };
}

async function eraseSelected(server: HomeServer, selection: Selection): Promise<Told> {
  return toldOf(await server.client.call('DELETE', `/v1/recordings?${queryOf(selection, { all: 'true' })}`));
}

/** An answer without a body says that all is gone. */
function toldOf(answer: Json | undefined): Told {
  return isJsonObject(answer) ? { erased: Number(answer.erased), elsewhere: Number(answer.elsewhere ?? 0) } : { erased: 0, elsewhere: 0 };
}
