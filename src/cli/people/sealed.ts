import { masterKeySource } from '../../gateway/config-file.ts';
import { NO_MASTER, readMasterKey } from '../../gateway/secret-references.ts';
import { openHome } from '../../home/home.ts';
import { type MasterKey, SealedSecrets } from '../../home/sealed-secrets.ts';
import type { Context } from '../command.ts';
import { withConfig } from '../config.ts';
import { CliError } from '../failure.ts';

/** The sealed secrets of the home, opened with the master key of the environment or of the configuration. */
export async function openSealed({ io, configPath, homePath }: Context): Promise<{ secrets: SealedSecrets; master: MasterKey }> {
  return await withConfig(() => {
    const source = masterKeySource({ env: io.env, ...(configPath === undefined ? {} : { path: configPath }) });
    const master = readMasterKey(source, io.env);
    if (master === undefined) throw new CliError('config', 'there is no master key', { hint: NO_MASTER });
    return { secrets: SealedSecrets.open(openHome({ path: homePath }).path, master), master };
  });
}
