import { type JsonObject, objectIn } from '../../base/json.ts';
import { Ledger } from '../../ir/ledger.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { FateNote, LowerContext } from '../dialect.ts';
import { compact } from '../members.ts';
import { described } from '../output-schema.ts';
import { liftThinking } from './lift-config.ts';
import { toOpenApi } from './openapi-schema.ts';
import { ProtoFields } from './proto.ts';
import { toJsonSchema } from './schema.ts';
import { lowerMeasure, wishedBudget } from './thinking-measure.ts';
import * as wire from './wire.ts';

/** How many stop sequences Gemini takes. */
export const MAX_STOP_SEQUENCES = 5;
const MAX_INT32 = 0x7fffffff;

/** Writes `generationConfig`; undefined when there is nothing to say. */
export function lowerConfig(request: IrRequest, context: LowerContext, notes: FateNote[]): JsonObject | undefined {
  const { sampling } = request;
  const { thinkingConfig, responseSchema, ...own } = objectIn(request.vendor.gemini?.generationConfig) ?? {};
  const ownSchema = objectIn(responseSchema);
  refuseLimits(request, notes);
  const config = compact({
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    candidateCount: sampling.count,
    maxOutputTokens: request.maxTokens,
    stopSequences: request.stop.length === 0 ? undefined : request.stop,
    seed: sampling.seed,
    presencePenalty: sampling.presencePenalty,
    frequencyPenalty: sampling.frequencyPenalty,
    responseLogprobs: sampling.logprobs ?? (sampling.topLogprobs === undefined ? undefined : true),
    logprobs: sampling.topLogprobs,
    // A type without a neutral form came with a schema of its own.
    ...(own.responseMimeType === undefined ? lowerOutput(request, context, notes, ownSchema) : { responseSchema: ownSchema }),
    thinkingConfig: lowerThinking(request, context, notes, objectIn(thinkingConfig)),
    ...own,
  });
  return Object.keys(config).length === 0 ? undefined : config;
}

function refuseLimits({ stop, sampling }: IrRequest, notes: FateNote[]): void {
  if (stop.length > MAX_STOP_SEQUENCES) {
    notes.push({
      concept: 'stop_sequences',
      fate: 'refused',
      code: 'too_many_stops',
      note: `Gemini takes at most ${MAX_STOP_SEQUENCES} stop sequences`,
    });
  }
  if (Math.abs(sampling.seed ?? 0) > MAX_INT32) {
    notes.push({ concept: 'seed', fate: 'refused', code: 'seed_too_large', note: 'Gemini takes a seed of 32 bits' });
  }
}

function lowerOutput(request: IrRequest, context: LowerContext, notes: FateNote[], subset: JsonObject | undefined): JsonObject {
  const { output, tools } = request;
  if (output === undefined) return {};
  if (context.traits.has('json-or-tools') && tools.some((tool) => tool.kind === 'hosted' && tool.meta.gemini === undefined)) {
    const concept = output.kind === 'json' ? 'json_mode' : 'json_schema';
    notes.push({ concept, fate: 'refused', code: 'json_excludes_tools', note: 'the model gives JSON or uses tools of its own, not both' });
  }
  const responseMimeType = 'application/json';
  if (output.kind === 'json') return { responseMimeType };
  const form = lowerSchema(described(output), context, subset);
  if (form.lost.length > 0) notes.push({ concept: 'json_schema', fate: 'emulated', code: 'schema_words_lost', note: lostWords(form.lost) });
  return { responseMimeType, ...(form.subset ? { responseSchema: form.schema } : { responseJsonSchema: form.schema }) };
}

/** A schema in the caller's own words while they still mean the same, else as JSON Schema, else in the subset older models take. */
export function lowerSchema(
  schema: JsonObject,
  context: LowerContext,
  own: JsonObject | undefined,
): { readonly schema: JsonObject; readonly subset: boolean; readonly lost: readonly string[] } {
  if (own !== undefined && JSON.stringify(toJsonSchema(own)) === JSON.stringify(schema)) return { schema: own, subset: true, lost: [] };
  if (!context.traits.has('openapi-schema')) return { schema, subset: false, lost: [] };
  return { ...toOpenApi(schema), subset: true };
}

export function lostWords(lost: readonly string[]): string {
  return `Gemini's schema subset has no exact form for ${lost.join(', ')}`;
}

function lowerThinking(request: IrRequest, context: LowerContext, notes: FateNote[], own: JsonObject | undefined): JsonObject | undefined {
  const { thinking, effort } = request;
  if (own !== undefined && saysStill(own, request)) return own;
  if (thinking === undefined && effort === undefined) return undefined;
  if (context.lacks.has('thinking') || context.lacks.has('effort')) return noThinking(request, notes);
  const shown = thinking !== undefined && thinking.mode !== 'disabled' && thinking.display !== 'omitted';
  const measure = lowerMeasure(thinking, effort, context.traits);
  const config = compact({ includeThoughts: shown ? true : undefined, ...measure });
  const words = `thinkingConfig ${JSON.stringify(config)}`;
  if (thinking !== undefined) notes.push(thinkingNote(request, context, words));
  for (const concept of besidesThinking(request, context))
    notes.push({ concept, fate: 'emulated', code: 'thinking_as_level', note: words, ofLeaf: true });
  const exact = thinking?.mode !== 'disabled' && measure.thinkingLevel === effort?.toUpperCase();
  if (effort !== undefined && !exact) notes.push({ concept: 'effort', fate: 'emulated', code: 'thinking_as_level', note: words });
  return config;
}

/** Thinking that nobody sees is lost beside a level of effort, where the model would get the same without it. */
function thinkingNote({ thinking, effort }: IrRequest, { traits }: LowerContext, note: string): FateNote {
  const levels = [thinking, { mode: 'disabled' } as const].map((one) => lowerMeasure(one, effort, traits).thinkingLevel);
  const decides = thinking?.mode === 'disabled' || thinking?.display !== 'omitted' || effort === undefined;
  if (decides || levels[0] === undefined || levels[0] !== levels[1])
    return { concept: 'thinking', fate: 'emulated', code: 'thinking_as_level', note };
  return { concept: 'thinking', fate: 'dropped', code: 'thinking_lost_to_effort', note };
}

/**
 * The other parts of a wish for thinking that decide what is sent: a budget does, unless a level of effort is given to a model that has
 * levels.
 */
function besidesThinking({ thinking, effort }: IrRequest, { traits }: LowerContext): FateNote['concept'][] {
  if (thinking === undefined || thinking.mode === 'disabled') return [];
  const counts = wishedBudget(thinking) !== undefined && (effort === undefined || !traits.has('thinking-level'));
  return counts ? ['thinking_display', 'thinking_budget'] : ['thinking_display'];
}

/** Whether the caller's own config still says what the request says; an override makes it stale. */
function saysStill(own: JsonObject, { thinking, effort }: IrRequest): boolean {
  const said = liftThinking(new ProtoFields(wire.ThinkingConfig.parse(own), '', new Ledger()));
  return JSON.stringify([said.thinking, said.effort]) === JSON.stringify([thinking, effort]);
}

/** A model that never thinks honours the wish not to; any other wish is refused by its concept. */
function noThinking({ thinking, effort }: IrRequest, notes: FateNote[]): undefined {
  if (thinking?.mode === 'disabled')
    notes.push({ concept: 'thinking', fate: 'renamed', code: 'does_not_reason', note: 'this model never thinks' });
  if (effort === 'none') notes.push({ concept: 'effort', fate: 'renamed', code: 'does_not_reason', note: 'this model never thinks' });
}
