import { resolve } from 'node:path';
import type { SessionSummary } from '../../../adapters/adapter.ts';
import { isoTime } from '../../../base/clock.ts';
import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import type { Paint } from '../../output.ts';
import { count, optional } from '../../parameter.ts';
import { table } from '../../table.ts';
import { agoText } from '../../time.ts';

const TITLE = 60;

export const command = defineCommand({
  arguments: { agent: optional('[agent]', 'one coding agent; without it, every one') },
  options: {
    cwd: optional('--cwd <dir>', 'only sessions of this folder'),
    limit: count('--limit <number>', 'how many of each agent (default: 20)'),
  },
  examples: ['abp conversations list', 'abp conversations list claude --cwd .', 'abp conversations list codex --json'],
  async run(context, { agent, cwd, limit }) {
    const { createSessions } = await import('../../../runtime/sessions.ts');
    const { adapters } = await openCodingAgents(context);
    const sessions = createSessions(context.io.env);
    const chosen = agent === undefined ? adapters.list() : [adapters.get(agent)];
    const filter = { limit: limit ?? 20, ...(cwd === undefined ? {} : { cwd: resolve(cwd) }) };
    const found = await Promise.all(chosen.map((adapter) => sessions.list(adapter, filter)));
    const items = found.flat().toSorted((a, b) => b.updatedAt - a.updatedAt);
    context.output.print({ items }, (data) => render(data.items, context.output.paint));
    return EXITS.ok.code;
  },
});

function render(items: readonly SessionSummary[], paint: Paint): string {
  if (items.length === 0) return 'no sessions found';
  const rows = items.map(({ agent, sessionId, title, updatedAt, turnCount, cwd }) => [
    `${agent}:${sessionId}`,
    agoText(isoTime(updatedAt)),
    String(turnCount),
    (title ?? '').replaceAll('\n', ' ').slice(0, TITLE),
    paint.faint(cwd ?? ''),
  ]);
  return table([['Session', 'Changed', 'Turns', 'Title', 'Folder'].map(paint.strong), ...rows]);
}
