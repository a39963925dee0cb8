import { stripVTControlCharacters } from 'node:util';
import type { RunRow } from '../../gateway/api/run-rows.ts';
import { compact } from '../numbers.ts';
import type { Paint } from '../output.ts';
import { table } from '../table.ts';
import { agoText, durationText } from '../time.ts';
import { nanoText, statusText } from './page.ts';

/** A column of the list; one that says nothing of any run is left out. */
interface Column {
  readonly title: string;
  readonly cell: (row: RunRow, paint: Paint) => string;
}

const NOTHING = '–';

const COLUMNS: readonly Column[] = [
  { title: 'Run', cell: (row) => row.run_id },
  { title: 'Started', cell: (row) => agoText(row.started_at) },
  { title: 'Took', cell: (row) => (row.total_ms === null ? NOTHING : durationText(row.total_ms)) },
  { title: 'Status', cell: (row, paint) => statusText(row.status, paint) },
  { title: 'Engine', cell: (row) => row.engine ?? NOTHING },
  { title: 'Model', cell: (row) => row.upstream_model ?? row.model ?? NOTHING },
  { title: 'Tokens', cell: (row) => tokensText(row) },
  { title: 'Cost', cell: (row) => costText(row) },
  { title: 'Key', cell: (row) => row.key_name ?? row.key_id ?? NOTHING },
  { title: 'Parent', cell: (row) => (row.parent_run_id === null ? NOTHING : `…${row.parent_run_id.slice(-6)}`) },
  { title: 'Error', cell: (row, paint) => (row.error === null ? NOTHING : paint.bad(`${row.error.code}: ${row.error.message}`)) },
];

/** Lines of runs. The last column is cut where the terminal ends. */
export function rowTable(rows: readonly RunRow[], paint: Paint, width: number | undefined): string {
  const all = COLUMNS.map(({ title, cell }) => [paint.strong(title), ...rows.map((row) => plain(cell(row, paint)))]);
  const telling = all.filter((cells) => cells.slice(1).some((cell) => cell !== NOTHING));
  const lines = table([paint.strong(''), ...rows].map((_, at) => telling.map((cells) => cells[at] ?? '')));
  return width === undefined
    ? lines
    : lines
        .split('\n')
        .map((line) => cut(line, width, paint))
        .join('\n');
}

/** A message of an engine may hold line breaks, which would break the table. */
function plain(cell: string): string {
  return cell.replaceAll(/\s+/g, ' ');
}

function cut(line: string, width: number, paint: Paint): string {
  const bare = stripVTControlCharacters(line);
  // Colours stand in few places; a line that is cut does without them.
  return bare.length <= width ? line : `${bare.slice(0, width - 1)}${paint.faint('…')}`;
}

export function tokensText({ tokens }: Pick<RunRow, 'tokens'>): string {
  return tokens === null ? NOTHING : `${compact(tokens.in)} + ${compact(tokens.out)}`;
}

export function costText({ cost_nano_usd: cost, tokens }: Pick<RunRow, 'cost_nano_usd' | 'tokens'>): string {
  if (cost !== null) return nanoText(cost);
  return tokens === null ? NOTHING : 'no price';
}
