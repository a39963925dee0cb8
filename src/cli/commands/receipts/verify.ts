import { closeSync, createReadStream, openSync, readFileSync } from 'node:fs';
import type { JsonObject } from '../../../base/json.ts';
import { lookAt, pathFault } from '../../../base/paths/look-at.ts';
import type { ChainVerification } from '../../../contract/receipts/chain-verification.ts';
import { homePath, processFolders } from '../../../home/home.ts';
import { verifyExport } from '../../../receipts/verify/verify-bytes.ts';
import { isForeign, verifyForeign } from '../../../receipts/verify/verify-foreign.ts';
import { type Context, defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { flag, list, optional } from '../../parameter.ts';
import { natural, rangeOf, runOf } from '../../receipts/parameters.ts';
import { type ExportRange, withReceipts } from '../../receipts/source.ts';
import { readHead, readKeys } from '../../receipts/trust.ts';
import { sequenceOf, verdictLines, verifyRange } from '../../receipts/verification.ts';

interface Values {
  readonly runId: string | undefined;
  readonly all: boolean;
  readonly file: string | undefined;
  readonly publicKey: readonly string[];
  readonly head: string | undefined;
  readonly from: number | undefined;
  readonly to: number | undefined;
}

export const command = defineCommand({
  arguments: { runId: optional('[run-id]', 'one run: its receipt and its link to the next signed head') },
  options: {
    all: flag('--all', 'the whole chain of this home; with several processes, that of each'),
    from: natural('--from <sequence>', 'a range of the chain: its first entry'),
    to: natural('--to <sequence>', 'a range of the chain: its last entry'),
    file: optional('--file <path>', 'an exported file, or a receipt of another implementation; needs no home and no server'),
    publicKey: list('--public-key <key>', 'whom to trust: 64 hex digits, a PEM file, or a file with the output of keys list --json'),
    head: optional('--head <head>', 'a signed head from elsewhere (a file, JSON, or sequence:hash): finds a cut tail'),
  },
  examples: [
    'abp receipts verify run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b',
    'abp receipts verify --all --head head.json',
    'abp receipts verify --file receipts.jsonl --public-key key.pem --head 128:9f86d0…',
  ],
  async run(context, values) {
    const { file, runId, all, from, to } = values;
    if ([file !== undefined, runId !== undefined, all || from !== undefined || to !== undefined].filter(Boolean).length !== 1) {
      throw new CliError('usage', 'say what to verify', { hint: 'Give a run id, or --all, or --from and --to, or --file.' });
    }
    if (to !== undefined && values.head !== undefined) {
      throw new CliError('usage', '--head says where the chain ends, --to ends before', { hint: 'Leave one of them out.' });
    }
    if (file !== undefined) assertReadable(file);
    if (file !== undefined && (await isForeignFile(file))) return foreign(context, file);
    const processes = all && values.head === undefined ? processFolders(homePath(context.homePath)) : new Map<number, string>();
    if (processes.size > 1) return await verifyProcesses(context, values, processes);
    const found = file === undefined ? await verifyHere(context, values) : await verifyFile(file, values);
    context.output.print(found, (data) => verdictLines(data, context.output.paint).join('\n'));
    return found.ok ? EXITS.ok.code : EXITS.refused.code;
  },
});

/** Each process of a home has a chain of its own. */
async function verifyProcesses(context: Context, values: Values, processes: ReadonlyMap<number, string>): Promise<number> {
  const { output } = context;
  const found: (ChainVerification & { readonly process: number })[] = [];
  for (const [process, folder] of processes) found.push({ process, ...(await verifyHere({ ...context, homePath: folder }, values)) });
  const ok = found.every((one) => one.ok);
  output.print({ ok, processes: found }, (data) =>
    data.processes.map((one) => [`process ${one.process}`, ...verdictLines(one, output.paint)].join('\n')).join('\n'),
  );
  return ok ? EXITS.ok.code : EXITS.refused.code;
}

async function verifyFile(file: string, { publicKey, head }: Values): Promise<ChainVerification> {
  if (publicKey.length === 0) {
    throw new CliError('usage', '--file needs --public-key', {
      hint: 'The maker of the file could have made any key; say which one you trust.',
    });
  }
  const options = { publicKeys: readKeys(publicKey), head: head === undefined ? undefined : readHead(head) };
  return await verifyExport(createReadStream(file), options);
}

async function verifyHere(context: Context, { runId, publicKey, head, from, to }: Values): Promise<ChainVerification> {
  return await withReceipts(context, async (source) => {
    const range = runId === undefined ? rangeOf(from, to) : placeOf(await source.get(runOf(runId)), head === undefined);
    return await verifyRange(source, range, {
      publicKeys: publicKey.length > 0 ? readKeys(publicKey) : [],
      head: head === undefined ? undefined : readHead(head),
      mayBeEmpty: runId === undefined && from === undefined && to === undefined,
    });
  });
}

/** The place of a receipt alone or, to compare it with a head from elsewhere, all from there on. */
function placeOf(receipt: JsonObject, alone: boolean): ExportRange {
  const sequence = sequenceOf(receipt);
  if (sequence !== undefined) return { from: sequence, to: alone ? sequence : undefined };
  const hasEnded = typeof receipt.completed_at === 'string';
  throw new CliError('usage', `the receipt of ${String(receipt.run_id)} is not sealed`, {
    hint: hasEnded ? 'Its run has ended: a version before seals wrote it, or somebody put it there.' : 'It is once the run has ended.',
  });
}

function assertReadable(file: string): void {
  const fault = readFault(file);
  if (fault === undefined) return;
  throw new CliError('usage', `cannot read ${file}: it ${fault}`, { hint: 'abp receipts export --output FILE writes one.' });
}

function readFault(file: string): string | undefined {
  if (lookAt(file).stats?.isDirectory() === true) return 'is a folder, not a file';
  try {
    closeSync(openSync(file, 'r'));
    return undefined;
  } catch (error) {
    return pathFault(error);
  }
}

/** An export begins with a receipt or a link, each on one line; a foreign receipt is a document with `meta`. */
async function isForeignFile(file: string): Promise<boolean> {
  const chunks = createReadStream(file, { end: 64 * 1024 });
  let text = '';
  for await (const chunk of chunks) text += String(chunk);
  return /^\s*\{/.test(text) && text.includes('"meta"') && isForeign(readFileSync(file, 'utf8'));
}

function foreign({ output }: Context, file: string): number {
  const found = verifyForeign(readFileSync(file, 'utf8'));
  output.print(found, ({ ok, verdict }) => `${ok ? output.paint.good('ok') : output.paint.bad('NOT OK')}  ${verdict}`);
  return found.ok ? EXITS.ok.code : EXITS.refused.code;
}
