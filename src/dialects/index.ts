import { claude } from './claude/dialect.ts';
import { copilot } from './copilot/dialect.ts';
import type { Dialect } from './dialect.ts';
import { gemini } from './gemini/dialect.ts';
import { kimi } from './kimi/dialect.ts';
import { openaiChat } from './openai-chat/dialect.ts';
import { openaiResponses } from './openai-responses/dialect.ts';

/** Every dialect, in the order tables show them. */
export const dialects: readonly Dialect[] = [claude, openaiChat, openaiResponses, gemini, kimi, copilot];

const byName = new Map(dialects.flatMap((dialect) => [dialect.id, ...dialect.aliases].map((name) => [name, dialect] as const)));

export function findDialect(name: string): Dialect | undefined {
  return byName.get(name);
}
