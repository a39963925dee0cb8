import { createWriteStream, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { Writable } from 'node:stream';
import { homePath as homeOf, openHome } from '../../home/home.ts';
import type { Backup } from '../backup/backup.ts';
import { assertDatabaseInUse, databaseUrl } from '../backup/database-in-use.ts';
import { amounts, progress } from '../backup/report.ts';
import { type Context, defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { openOutput } from '../io.ts';
import { flag, required } from '../parameter.ts';

export const command = defineCommand({
  arguments: { file: required('<file>', 'where to write it; - for the standard output') },
  options: { force: flag('--force', 'replace the file if there is one') },
  examples: [
    'abp backup abp-2026-11-16.tar.gz',
    'abp backup - | age -r age1… > abp.tar.gz.age',
    'abp backup /mnt/nightly.tar.gz --force --json',
  ],
  async run(context, { file, force }) {
    const path = homeOf(context.homePath ?? context.io.env.ABP_HOME);
    if (!existsSync(path)) throw new CliError('not_found', `there is no home ${path}`, { hint: 'Name one with --home or ABP_HOME.' });
    const url = await databaseUrl(context);
    const home = openHome({ path });
    assertDatabaseInUse(path, url);
    if (url === undefined && !existsSync(home.databaseFile))
      throw new CliError('not_found', `the home ${path} has no database yet`, {
        hint: 'Its first server makes one; ABP_DATABASE_URL names a PostgreSQL.',
      });
    if (file === '-') await toStandardOutput(context, home, url);
    else await toFile(context, { file, force, home, url });
    return EXITS.ok.code;
  },
});

type Home = ReturnType<typeof openHome>;

interface Order {
  readonly file: string;
  readonly force: boolean;
  readonly home: Home;
  readonly url: string | undefined;
}

/** The file appears whole or not at all, for its owner alone. */
async function toFile(context: Context, { file, force, home, url }: Order): Promise<void> {
  if (!force && existsSync(file)) {
    throw new CliError('usage', `${file} is there already`, { hint: 'Choose another name, or give --force to replace it.' });
  }
  const { writeBackup } = await import('../backup/backup.ts');
  const draft = `${file}.partial`;
  rmSync(draft, { force: true });
  const target = createWriteStream(draft, { fd: openOutput(draft), flush: true });
  try {
    const made = await writeBackup({ home, databaseUrl: url, target, onProgress: progress(context, 'backup') });
    renameSync(draft, file);
    const { manifest, ...account } = made;
    const { tables: _, ...facts } = manifest;
    context.output.print({ file, size: statSync(file).size, ...facts, ...account }, () => rendered(context, file, made));
  } finally {
    rmSync(draft, { force: true });
  }
}

async function toStandardOutput(context: Context, home: Home, url: string | undefined): Promise<void> {
  const { io, output } = context;
  if (io.stdout.isTTY === true)
    throw new CliError('usage', 'a backup is no text for a terminal', {
      hint: 'Send it to a program or a file: abp backup - | age -r KEY > FILE.',
    });
  const { writeBackup } = await import('../backup/backup.ts');
  const target = new Writable({ write: (chunk, _encoding, done) => void process.stdout.write(chunk, done) });
  const made = await writeBackup({ home, databaseUrl: url, target, onProgress: progress(context, 'backup') });
  io.stderr.write(`${output.paint.faint(`backup: ${amounts(made)}`)}\n`);
}

function rendered({ output: { paint } }: Context, file: string, made: Backup): string {
  const { left_out: left } = made.manifest;
  return [
    `${paint.good(file)}: ${amounts(made)}`,
    ...(left.length === 0 ? [] : [paint.faint(`Left out: ${left.join(', ')} (what runs work on or have left behind).`)]),
    paint.faint(
      'It holds the token of this home, its signing keys and recorded bodies: anybody who has the file is its administrator. Keep it private.',
    ),
  ].join('\n');
}
