import { packageVersion } from '../../base/own-files.ts';
import { AbpError } from '../../contract/errors.ts';
import { openHome } from '../../home/home.ts';
import { loadConfig } from '../config.ts';
import { startWorker } from '../server.ts';

export interface WorkOptions {
  readonly configPath?: string;
  readonly homePath?: string;
  readonly turns?: number;
  readonly json: boolean;
}

/** Works on turns of a PostgreSQL database until a signal ends it. */
export async function work(options: WorkOptions): Promise<number> {
  const { config, warnings } = loadConfig({
    env: process.env,
    homePath: options.homePath,
    ...(options.configPath === undefined ? {} : { path: options.configPath }),
  });
  if (config.database.url === undefined) {
    throw new AbpError(
      'invalid_request',
      'A worker shares a PostgreSQL database with servers; set ABP_DATABASE_URL. On SQLite the server works itself.',
      {},
      'Set ABP_DATABASE_URL to the address of the database that the servers have.',
    );
  }
  const turns = options.turns ?? config.sessions.turns;
  if (turns === 0) throw new AbpError('invalid_request', 'A worker that works on no turn is of no use; set --turns or sessions.turns.');
  const worker = await startWorker({
    config: { ...config, sessions: { ...config.sessions, turns } },
    home: openHome(options.homePath === undefined ? {} : { path: options.homePath }),
    version: packageVersion(),
    logsRequests: true,
  });
  const { log, sessions } = worker.gateway;
  for (const warning of warnings) log.warn(warning);
  const { workerId } = sessions.parts;
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ worker: workerId, turns, pid: process.pid })}\n`
      : `${workerId} works on up to ${turns} turns at a time\n`,
  );
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  log.info(`${signal}: letting turns end; others go on with those that do not`);
  await worker.close();
  return 0;
}
