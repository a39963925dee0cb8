import type { ReceiptUsage } from '../../contract/receipts/parts.ts';
import {
  addUsage,
  type IrUsage,
  joinedBeside,
  LENGTHS,
  NO_USAGE,
  type PassUsage,
  type SideUsage,
  type UnitUsage,
  type UsageDetails,
} from '../../ir/usage.ts';

/** No call uses as many of anything. */
const MOST = 1_000_000_000;
/** No answer is the work of as many models. */
const MOST_MODELS = 20;
/** Qualities and sizes have short names. */
const LONGEST_KIND = 64;

/**
 * The usage that an engine tells, as receipts, budgets and limits count it. Numbers that no usage can have (negative, in parts, beyond all measure)
 * count as none, and the usage as estimated: one wrong answer of an engine must not decide over a budget.
 */
export function toldUsage(usage: IrUsage | undefined): ReceiptUsage | null {
  if (usage === undefined) return null;
  const whole = usage.details?.beside === undefined ? usage : withPasses(usage);
  const input = countOf(whole.inputTokens);
  const cacheRead = Math.min(countOf(whole.cacheReadTokens), input);
  const told = {
    input_tokens: input,
    output_tokens: countOf(whole.outputTokens),
    cache_read_tokens: cacheRead,
    cache_write_tokens: Math.min(countOf(whole.cacheWriteTokens), input - cacheRead),
    thinking_tokens: countOf(whole.thinkingTokens),
    web_search_requests: countOf(whole.webSearchRequests),
  };
  const isWrong = told.input_tokens !== whole.inputTokens || told.output_tokens !== whole.outputTokens;
  const details = whole.details === undefined ? undefined : detailsOf(whole.details, told.input_tokens);
  return {
    ...told,
    estimated: isWrong || (whole.estimated ?? false),
    ...(details === undefined || Object.keys(details).length === 0 ? {} : { details }),
  };
}

/** A usage with the further passes of its own model in its counts: callers read what the engine says, and the bill has both. */
function withPasses(usage: IrUsage): IrUsage {
  const { beside = [], ...details } = usage.details ?? {};
  const own = beside.filter(({ model }) => model === undefined);
  const rest = { ...usage, details: { ...details, beside: beside.filter(({ model }) => model !== undefined) } };
  return own.reduce<IrUsage>((sum, pass) => addUsage(sum, passUsage(pass)), rest);
}

function passUsage({ inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, cacheWrite1hTokens }: SideUsage): IrUsage {
  const hour = cacheWrite1hTokens === undefined ? {} : { details: { cacheWrite1hTokens } };
  return { ...NO_USAGE, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, ...hour };
}

function countOf(told: number): number {
  return told >= 0 && told <= MOST ? Math.floor(told) : 0;
}

type ReceiptDetails = NonNullable<ReceiptUsage['details']>;
type OtherModel = NonNullable<ReceiptDetails['other_models']>[number];

function detailsOf(details: UsageDetails, input: number): ReceiptDetails {
  const { beside = [], region, tier, units = [] } = details;
  const others = joinedBeside(beside).flatMap((one) => (one.model === undefined ? [] : [otherModel(one, one.model)]));
  return {
    ...counted('audio_cache_read_tokens', details.audioCacheReadTokens),
    ...counted('audio_input_tokens', details.audioInputTokens),
    ...counted('audio_output_tokens', details.audioOutputTokens),
    ...counted('cache_write_1h_tokens', details.cacheWrite1hTokens),
    ...counted('file_searches', details.fileSearches),
    ...counted('image_input_tokens', details.imageInputTokens),
    ...counted('image_output_tokens', details.imageOutputTokens),
    ...counted('map_searches', details.mapSearches),
    ...(others.length === 0 ? {} : { other_models: others.slice(0, MOST_MODELS) }),
    ...passesOf(details.passes, input),
    ...counted('preview_searches', details.previewSearches),
    ...(region === undefined ? {} : { region }),
    ...(tier === undefined ? {} : { tier }),
    ...(units.length === 0 ? {} : { units: units.slice(0, MOST_MODELS).map(unitsOf) }),
    ...counted('video_input_tokens', details.videoInputTokens),
  };
}

function unitsOf({ unit, amount, kind }: UnitUsage): NonNullable<ReceiptDetails['units']>[number] {
  return { amount: countOf(Math.round(amount)), ...(kind === undefined ? {} : { kind: kind.slice(0, LONGEST_KIND) }), unit };
}

/** Passes that are short together have one price, which is that of their sum. */
function passesOf(passes: readonly PassUsage[] | undefined, input: number): Pick<ReceiptDetails, 'passes'> {
  if (passes === undefined || input <= LENGTHS[0] || (passes.length === 1 && (passes[0]?.count ?? 1) === 1)) return {};
  return {
    passes: passes.map((pass) => ({
      ...counted('cache_read_tokens', pass.cacheReadTokens),
      ...counted('cache_write_1h_tokens', pass.cacheWrite1hTokens),
      ...counted('cache_write_tokens', pass.cacheWriteTokens),
      count: pass.count ?? 1,
      input_tokens: countOf(pass.inputTokens),
      output_tokens: countOf(pass.outputTokens),
    })),
  };
}

function otherModel(one: SideUsage, model: string): OtherModel {
  return {
    ...counted('audio_input_tokens', one.audioInputTokens),
    ...counted('cache_read_tokens', one.cacheReadTokens),
    ...counted('cache_write_1h_tokens', one.cacheWrite1hTokens),
    ...counted('cache_write_tokens', one.cacheWriteTokens),
    ...counted('image_input_tokens', one.imageInputTokens),
    ...counted('image_output_tokens', one.imageOutputTokens),
    input_tokens: countOf(one.inputTokens),
    model,
    output_tokens: countOf(one.outputTokens),
    ...passesOf(one.passes, one.inputTokens),
    ...(one.units === undefined || one.units.length === 0 ? {} : { units: one.units.map(unitsOf) }),
  };
}

function counted<K extends keyof ReceiptDetails | keyof OtherModel>(name: K, value: number | undefined): Partial<Record<K, number>> {
  // One member of that name, or none.
  return value === undefined ? {} : ({ [name]: countOf(value) } as Partial<Record<K, number>>);
}
