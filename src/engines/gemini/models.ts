import type { ModelRow } from '../engine.ts';

/** Gemini 3 names levels of thinking, wants its thought signatures back and takes media in function results; 2.5 has budgets. */
export const models: readonly ModelRow[] = [
  { match: 'gemini-3*', traits: ['thinking-level', 'needs-thought-signature', 'function-response-media', 'mixed-tools'] },
  ...['gemini-3*-pro*', 'gemini-3.7*', 'gemini-3.8*'].map((match): ModelRow => ({ match, traits: ['no-minimal-level'] })),
  { match: 'gemini-3-pro*', traits: ['no-medium-level'] },
  { match: 'gemini-2.5-pro*', traits: ['pro-budget'] },
  { match: 'gemini-2.5-flash*', traits: ['flash-budget'] },
  { match: 'gemini-2.5-flash-lite*', traits: ['flash-lite-budget'] },
  { match: 'gemini-2*', lacks: ['tool_result_media'], traits: ['json-or-tools'] },
  { match: 'gemini-2.0*', lacks: ['thinking', 'effort'] },
  { match: 'gemini-1*', lacks: ['thinking', 'effort', 'tool_result_media'], traits: ['json-or-tools'] },
];
