import type { ModelRow } from '../engine.ts';

/** Gemini 3 names levels of thinking, wants its thought signatures back and takes media in function results; 2.5 has budgets. */
export const models: readonly ModelRow[] = [
  { match: 'gemini-3*', traits: ['thinking-level', 'needs-thought-signature', 'function-response-media'] },
  { match: 'gemini-2*', lacks: ['tool_result_media'] },
  { match: 'gemini-2.0*', lacks: ['thinking', 'effort'] },
  { match: 'gemini-1*', lacks: ['thinking', 'effort', 'tool_result_media'] },
];
