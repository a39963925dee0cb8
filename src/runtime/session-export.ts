import { isoTime } from '../base/clock.ts';
import type { Session } from './sessions.ts';

/** A session as one document: `json` whole, `jsonl` a message per line, `markdown` to be read. */
export type SessionFormat = 'json' | 'jsonl' | 'markdown';

export function exportSession(session: Session, format: SessionFormat): string {
  if (format === 'json') return `${JSON.stringify(session, null, 2)}\n`;
  if (format === 'jsonl') return session.messages.map((message) => `${JSON.stringify(message)}\n`).join('');
  return markdown(session);
}

function markdown({ messages, ...summary }: Session): string {
  const head = [
    `# ${summary.title ?? summary.sessionId}`,
    '',
    `${summary.agent} · ${summary.sessionId} · ${isoTime(summary.updatedAt)}${summary.cwd === undefined ? '' : ` · ${summary.cwd}`}`,
  ];
  const body = messages.flatMap(({ role, content, toolCalls }) => [
    '',
    `## ${role}`,
    '',
    ...(content === '' ? [] : [role === 'tool' ? fenced(content) : content]),
    ...(toolCalls ?? []).map(({ toolName, input }) => `- called \`${toolName}\` with \`${JSON.stringify(input)}\``),
  ]);
  return `${[...head, ...body].join('\n')}\n`;
}

/** A fence longer than any inside, so that nothing in the text can close it. */
function fenced(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}\n${text}\n${fence}`;
}
