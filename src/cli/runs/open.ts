import { openHome } from '../../home/home.ts';
import type { Context } from '../command.ts';
import { CliError } from '../failure.ts';
import type { RunAsked } from './asked.ts';
import type { RunSource } from './source.ts';

/** A run as it is asked of each place: the server of the home may be told more than another backplane, as it is on this machine. */
export interface AskedEverywhere {
  readonly elsewhere: RunAsked;
  readonly home: RunAsked;
  readonly here: RunAsked;
}

/** Starts a run on another backplane, on the server of the home, or in this process. */
export async function openRun(context: Context, asked: AskedEverywhere, remote: string | undefined): Promise<RunSource> {
  const { serverRun } = await import('./server-run.ts');
  if (remote !== undefined) return await serverRun({ url: remote.replace(/\/$/, ''), key: context.io.env.ABP_KEY }, asked.elsewhere);
  const home = openHome({ path: context.homePath });
  const address = home.readAddress();
  if (address !== undefined) {
    try {
      return await serverRun({ url: address.url, key: home.token }, asked.home);
    } catch (error) {
      // The server of another command that has just ended; its run was not taken, so the next one may have it.
      if (!(error instanceof CliError && error.code === 'no_server') || home.readAddress()?.url === address.url) throw error;
    }
  }
  const { insideRun } = await import('./source.ts');
  return (await insideRun(context, asked.here)) ?? (await openRun(context, asked, remote));
}
