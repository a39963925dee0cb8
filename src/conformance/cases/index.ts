import { claude } from './claude.ts';
import { copilot } from './copilot.ts';
import type { DialectCases } from './every-dialect.ts';
import { gemini } from './gemini.ts';
import { kimi } from './kimi.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';

/** Every dialect the suite knows, in the order tables show them. */
export const dialectCases: readonly DialectCases[] = [claude, openaiChat, openaiResponses, gemini, kimi, copilot];
