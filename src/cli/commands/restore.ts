import { createReadStream, createWriteStream, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { homePath as homeOf } from '../../home/home.ts';
import { databaseUrl } from '../backup/database-in-use.ts';
import { amounts, progress } from '../backup/report.ts';
import type { Restored } from '../backup/restore.ts';
import { type Context, defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { flag, required } from '../parameter.ts';

export const command = defineCommand({
  arguments: { file: required('<file>', 'what abp backup has written; - for the standard input') },
  options: { force: flag('--force', 'set aside what the home holds, and empty the PostgreSQL database') },
  examples: ['abp restore abp-2026-11-16.tar.gz --home /var/lib/abp', 'abp restore - --force < abp.tar.gz'],
  async run(context, { file, force }) {
    if (file !== '-' && !existsSync(file))
      throw new CliError('not_found', `there is no file ${file}`, { hint: 'Name a file that abp backup has written.' });
    const home = homeOf(context.homePath ?? context.io.env.ABP_HOME);
    const url = await databaseUrl(context);
    const { readBackup } = await import('../backup/restore.ts');
    const restored = await withFile(file, (path) =>
      readBackup({ source: () => createReadStream(path), home, databaseUrl: url, force, onProgress: progress(context, 'restore') }),
    );
    const { manifest, before, ...account } = restored;
    const { tables: _, ...facts } = manifest;
    context.output.print({ home, ...(before === undefined ? {} : { before }), ...facts, ...account }, () =>
      rendered(context, home, restored),
    );
    return EXITS.ok.code;
  },
});

/** Does work with a file; what comes from the standard input is kept in one until it is done. */
async function withFile<T>(file: string, work: (path: string) => Promise<T>): Promise<T> {
  if (file !== '-') return await work(file);
  const folder = mkdtempSync(join(tmpdir(), 'abp-restore-'));
  try {
    const path = join(folder, 'backup');
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }));
    return await work(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function rendered({ output: { paint } }: Context, home: string, { manifest, before, ...account }: Restored): string {
  return [
    `${paint.good(home)}: ${amounts(account)}, as they were on ${manifest.created_at}`,
    ...(before === undefined ? [] : [`What was there before is in ${before}; delete it when you do not need it any more.`]),
    paint.faint(
      `It is the node ${manifest.node}: do not let the home that the backup was made of serve beside it. abp receipts verify --all checks the chain.`,
    ),
  ].join('\n');
}
