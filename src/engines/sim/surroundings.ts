import { messageText } from '../../ir/conversation.ts';
import type { IrRequest } from '../../ir/request.ts';

/** Blocks that coding agents put around or beside what their user typed. Their content is not an instruction to the sim. */
const AGENT_BLOCKS = [
  'system-reminder',
  'system_reminder',
  'reminder',
  'environment_context',
  'environment_details',
  'env',
  'session_context',
  'current_datetime',
  'todo_status',
  'sql_tables',
  'user_instructions',
  'INSTRUCTIONS',
  'permissions instructions',
  'collaboration_mode',
  'skills_instructions',
];

/** OpenClaw puts its own remarks between two marks of this form, as a message of the user. */
const MARKED_BLOCK = /<<<BEGIN_([A-Z_]+)>>>[\s\S]*?<<<END_\1>>>/g;

/** The user's own text, without the blocks that an agent added and without the quotes that OpenCode puts around a prompt. */
export function ownWords(text: string): string {
  const rest = AGENT_BLOCKS.reduce(withoutBlock, text).replace(MARKED_BLOCK, '').trim();
  return isEscapedQuote(rest) ? rest.slice(1, -1).replaceAll('\\"', '"') : rest;
}

function withoutBlock(text: string, tag: string): string {
  const opening = `<${tag}`;
  const closing = `</${tag}>`;
  let kept = '';
  let from = 0;
  let open = text.indexOf(opening);
  while (open !== -1) {
    const close = text.indexOf(closing, open);
    if (close === -1) break;
    if (/[\s>]/.test(text[open + opening.length] ?? '')) {
      kept += text.slice(from, open);
      from = close + closing.length;
    }
    open = text.indexOf(opening, Math.max(from, open + opening.length));
  }
  return kept + text.slice(from);
}

/** `opencode run` sends an argument with spaces as `"…"` with every inner quote escaped. */
function isEscapedQuote(text: string): boolean {
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return false;
  const inner = text.slice(1, -1);
  return !/(?:^|[^\\])"/.test(inner) && !inner.endsWith('\\');
}

/** How agents tell the model where they work: a tag (Codex), a label (Claude Code, opencode, Copilot, pi) or a sentence (Gemini CLI, Qwen). */
const DIRECTORY_SIGNS = [
  /<cwd>([^<]+)<\/cwd>/,
  /\bwork(?:ing|space) (?:in (?:the |these )?(?:following )?)?director(?:y|ies)[^/\\]{0,24}?[\s`"'(]((?:\/|[A-Za-z]:\\)[\w.~@+-][^\n]*)/i,
];

/** The working directory the agent told the model about, if it did. */
export function workingDirectory(request: IrRequest): string | undefined {
  for (const message of request.messages) {
    const found = message.role === 'assistant' ? undefined : directoryIn(messageText(message));
    if (found !== undefined) return found;
  }
  return undefined;
}

function directoryIn(text: string): string | undefined {
  for (const sign of DIRECTORY_SIGNS) {
    const raw = sign.exec(text)?.[1]?.trim();
    if (raw !== undefined) return raw.replace(/(?:[<>`"')*|]|\. |, | \().*$/, '').replace(/(?<![\s./\\])[\s./\\]+$/, '');
  }
  return undefined;
}

/** The path as an absolute one where the working directory is known: most write tools refuse a relative path. */
export function absolutePath(path: string, directory: string | undefined): string {
  if (directory === undefined || /^(?:[/\\~]|[A-Za-z]:)/.test(path)) return path;
  const separator = directory.includes('\\') ? '\\' : '/';
  return `${directory}${separator}${path.replace(/^\.[/\\]/, '')}`;
}
