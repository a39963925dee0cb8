import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS } from '../../src/gateway/telemetry/metric-table.ts';
import { EVENTS } from '../../src/gateway/webhooks/webhook-config.ts';
import type { GeneratedFile } from './generated-file.ts';

const path = 'docs/observability.md';

/** The tables of metrics and of webhook events, inside a page that people write. */
export const observabilityDoc: GeneratedFile = { path, render };

function render(): string {
  const page = readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8');
  const metrics = Object.values(METRICS).map(
    ({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  );
  const events = Object.entries(EVENTS).map(([event, when]) => `| \`${event}\` | ${when} |`);
  return withRows(withRows(page, '| metric | type | labels | counts |', metrics), '| event | when |', events);
}

/** The page with these rows in the table that has this head. */
function withRows(page: string, head: string, rows: readonly string[]): string {
  const lines = page.split('\n');
  const first = lines.indexOf(head) + 2;
  if (first === 1) throw new Error(`${path} has no table ${head}`);
  const last = lines.findIndex((line, at) => at >= first && !line.startsWith('|'));
  return [...lines.slice(0, first), ...rows, ...lines.slice(last)].join('\n');
}
