import { stripVTControlCharacters } from 'node:util';

/** Columns of text aligned to the left; colour codes inside cells take no width. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, width(cell));
  }
  return rows.map((row) => line(row, widths)).join('\n');
}

function line(row: readonly string[], widths: readonly number[]): string {
  const last = row.findLastIndex((cell) => width(cell) > 0);
  const cells = row.slice(0, last + 1);
  return cells.map((cell, column) => (column === last ? cell : cell + ' '.repeat((widths[column] ?? 0) - width(cell)))).join('  ');
}

function width(cell: string): number {
  return stripVTControlCharacters(cell).length;
}
