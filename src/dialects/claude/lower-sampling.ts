import type { JsonObject } from '../../base/json.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { FateNote, LowerContext } from '../dialect.ts';
import { compact } from '../members.ts';

/** A model with fixed sampling takes values at and above this one from old callers, because they change nothing. */
const LEAST_FIXED_TOP_P = 0.99;

/** `temperature`, `top_p` and `top_k` as the model's generation takes them. */
export function lowerSampling({ sampling }: IrRequest, context: LowerContext, notes: FateNote[]): JsonObject {
  const { topK } = sampling;
  const temperature = lowerTemperature(sampling.temperature, context, notes);
  const topP = lowerTopP(sampling.topP, context, notes);
  if (temperature === undefined || topP === undefined || !context.traits.has('temperature-or-top-p'))
    return compact({ temperature, top_p: topP, top_k: topK });
  return compact({ ...oneOf(temperature, topP, notes), top_k: topK });
}

/** Claude takes 0 to 1 where others take 0 to 2. */
function lowerTemperature(value: number | undefined, { lacks }: LowerContext, notes: FateNote[]): number | undefined {
  if (value !== undefined && value > 1)
    notes.push({ concept: 'temperature', fate: 'refused', code: 'out_of_range', note: 'Claude takes a temperature from 0 to 1' });
  if (value === undefined || !lacks.has('temperature')) return value;
  if (value !== 1) return fixed('temperature', value, notes);
  notes.push({
    concept: 'temperature',
    fate: 'renamed',
    code: 'says_what_happens_anyway',
    note: 'left out: the only value the model takes',
  });
  return undefined;
}

function lowerTopP(value: number | undefined, { lacks }: LowerContext, notes: FateNote[]): number | undefined {
  if (value === undefined || !lacks.has('top_p')) return value;
  if (value < LEAST_FIXED_TOP_P) return fixed('top_p', value, notes);
  notes.push({ concept: 'top_p', fate: 'renamed', code: 'says_what_happens_anyway', note: 'left out: the model takes nothing away' });
  return undefined;
}

function fixed(concept: 'temperature' | 'top_p', value: number, notes: FateNote[]): number {
  notes.push({ concept, fate: 'refused', code: 'sampling_fixed', note: 'the sampling of the model is fixed' });
  return value;
}

/** Many callers write both and mean one: 1 is what either is without a word. */
function oneOf(temperature: number, topP: number, notes: FateNote[]): JsonObject {
  if (topP === 1) {
    notes.push({ concept: 'top_p', fate: 'renamed', code: 'says_what_happens_anyway', note: 'left out: 1 takes nothing away' });
    return { temperature };
  }
  if (temperature === 1) {
    notes.push({ concept: 'temperature', fate: 'renamed', code: 'says_what_happens_anyway', note: 'left out: 1 is the usual one' });
    return { top_p: topP };
  }
  notes.push({ concept: 'top_p', fate: 'refused', code: 'one_of_two', note: 'the model takes a temperature or a top_p, not both' });
  return { temperature, top_p: topP };
}
