import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCorpus, NO_CORPUS } from '../support/corpus.ts';
import { allLaws, type LawResult } from './laws.ts';
import { linesOf } from './tally.ts';

/**
 * `npm run truth`: tries every law over all fixtures and recorded exchanges, prints the table, and keeps the figures for
 * `docs/matrix.md`. It ends with 1 when something is wrong; `--all` lists each wrong, not only the first of each kind.
 */
const MOST_LISTED = 10;
const root = join(import.meta.dirname, '../..');

/** The wrongs of one kind differ in sample, indices and numbers only. */
function kinds({ tally }: LawResult): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [at, { where, what }] of tally.wrong.entries()) {
    const kind = `${where}: ${what.replaceAll(/\d+/g, 'N')}`;
    found.set(kind, [...(found.get(kind) ?? []), linesOf(tally)[at] ?? '']);
  }
  return found;
}

function show(result: LawResult): void {
  const { claim, tally } = result;
  console.log(
    `${String(tally.tried).padStart(8)} tried ${String(tally.tried - tally.wrong.length).padStart(8)} right ${String(tally.wrong.length).padStart(6)} wrong  ${claim}`,
  );
  const found = [...kinds(result)].sort(([, a], [, b]) => b.length - a.length);
  const listed = process.argv.includes('--all') ? found : found.slice(0, MOST_LISTED);
  for (const [kind, lines] of listed) console.log(`${' '.repeat(31)}${lines.length} × ${kind}\n${' '.repeat(35)}e.g. ${lines[0]}`);
  if (listed.length < found.length) console.log(`${' '.repeat(31)}… and ${found.length - listed.length} kinds more`);
}

if (hasCorpus) {
  const figures: object[] = [];
  let wrong = 0;
  for await (const result of allLaws()) {
    show(result);
    wrong += result.tally.wrong.length;
    figures.push({ id: result.id, claim: result.claim, tried: result.tally.tried, wrong: result.tally.wrong.length });
  }
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(join(root, 'test/truth/figures.json'), `${JSON.stringify({ date, laws: figures }, null, 2)}\n`);
  console.log('kept in test/truth/figures.json; npm run generate puts them into docs/matrix.md');
  process.exitCode = wrong === 0 ? 0 : 1;
} else {
  console.error(`npm run truth ${NO_CORPUS}`);
  process.exitCode = 1;
}
