import { findDialect } from '../../dialects/index.ts';
import type { AnswerReader } from '../answers/seen-answer.ts';
import { CLAUDE_METERS } from './claude.ts';
import { GEMINI_METERS, geminiBatch, geminiMedia } from './gemini.ts';
import type { Meter } from './meter.ts';
import { OPENAI_METERS, openaiMedia, openaiSpeech } from './openai.ts';

const METERS: readonly Meter[] = [...OPENAI_METERS, ...GEMINI_METERS, ...CLAUDE_METERS];
const READERS: readonly AnswerReader[] = [openaiMedia, openaiSpeech, geminiMedia, geminiBatch];

/** How calls to a path of an engine are counted; undefined where they cost nothing, or tell nothing of it. */
export function meterOf(method: string, path: string, dialects: readonly string[]): Meter | undefined {
  return METERS.find((meter) => meter.method === method && meter.path.test(path) && meter.dialects.some((id) => dialects.includes(id)));
}

/** Who reads answers, by id. */
export function findReader(id: string): AnswerReader | undefined {
  return READERS.find((reader) => reader.id === id) ?? findDialect(id);
}
