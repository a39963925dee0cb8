/** Counts and circumstances that have a price of their own. Each is part of a count above it, or stands beside the tokens. */
export interface UsageDetails {
  /** Of what was written to the cache: what stays there for an hour. */
  readonly cacheWrite1hTokens?: number;
  readonly audioInputTokens?: number;
  /** Of the audio that was read: what came from the cache. */
  readonly audioCacheReadTokens?: number;
  readonly audioOutputTokens?: number;
  /** Told only where images have a price of their own. */
  readonly imageInputTokens?: number;
  readonly imageOutputTokens?: number;
  readonly videoInputTokens?: number;
  readonly fileSearches?: number;
  /** Answers that rest on places of a map. */
  readonly mapSearches?: number;
  /** How the call was served, where that is not the usual way. */
  readonly tier?: 'batch' | 'flex' | 'priority' | 'fast';
  /** The only place in the world where it was served. */
  readonly region?: string;
  /** Of the web searches: those of the tool's preview. */
  readonly previewSearches?: number;
  /** What is not counted in tokens. */
  readonly units?: readonly UnitUsage[];
  /** Each pass of the model, where the counts are the sum of several. */
  readonly passes?: readonly PassUsage[];
  /** What the vendor tells and bills beside the counts of the answer itself. */
  readonly beside?: readonly SideUsage[];
}

/** An amount of something that is billed by the piece. */
export interface UnitUsage {
  readonly unit: 'audio_seconds' | 'cache_token_hours' | 'characters' | 'containers' | 'images' | 'video_seconds';
  readonly amount: number;
  /** Its quality and size, where the price goes by them. */
  readonly kind?: string;
}

/** What one pass of a model used, or several passes that are about as long as each other. */
export interface PassUsage {
  readonly count?: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly cacheWrite1hTokens?: number;
}

/** What was used for an answer besides the model's own work on it: a pass that sums a long conversation up, or another model. */
export interface SideUsage extends PassUsage {
  /** The model of the answer, unless it is told. */
  readonly model?: string;
  readonly audioInputTokens?: number;
  readonly imageInputTokens?: number;
  readonly imageOutputTokens?: number;
  readonly passes?: readonly PassUsage[];
  readonly units?: readonly UnitUsage[];
}

/** The details that say something; undefined where none does. */
export function usageDetails(details: { readonly [K in keyof UsageDetails]: UsageDetails[K] | undefined }): { details?: UsageDetails } {
  const told = Object.entries(details).filter(
    ([, value]) => value !== undefined && value !== 0 && !(Array.isArray(value) && value.length === 0),
  );
  return told.length === 0 ? {} : { details: Object.fromEntries(told) };
}

/**
 * Token counts of one answer. `inputTokens` counts everything the model read, cache included (vendors differ: Claude reports
 * the uncached rest, OpenAI and Gemini the total); `outputTokens` counts everything it wrote, thinking included.
 */
export interface IrUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly thinkingTokens: number;
  readonly webSearchRequests: number;
  /** Some of the counts are ours, because the engine did not say. */
  readonly estimated?: boolean;
  readonly details?: UsageDetails;
}

export const NO_USAGE: IrUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  thinkingTokens: 0,
  webSearchRequests: 0,
};

/** The usage of two answers together. Each of them was a pass of its own, unless it says of which it is the sum. */
export function addUsage(one: IrUsage, two: IrUsage): IrUsage {
  const [a, b] = [one.details ?? {}, two.details ?? {}];
  const details = usageDetails({
    ...sums(COUNTED_DETAILS, a, b),
    units: joinedUnits([...(a.units ?? []), ...(b.units ?? [])]),
    passes: joinedPasses([...passesOf(one), ...passesOf(two)]),
    beside: joinedBeside([...(a.beside ?? []), ...(b.beside ?? [])]),
    tier: b.tier ?? a.tier,
    region: b.region ?? a.region,
  });
  return {
    inputTokens: one.inputTokens + two.inputTokens,
    outputTokens: one.outputTokens + two.outputTokens,
    cacheReadTokens: one.cacheReadTokens + two.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + two.cacheWriteTokens,
    thinkingTokens: one.thinkingTokens + two.thinkingTokens,
    webSearchRequests: one.webSearchRequests + two.webSearchRequests,
    ...(one.estimated === true || two.estimated === true ? { estimated: true } : {}),
    ...details,
  };
}

const COUNTED_DETAILS = [
  'cacheWrite1hTokens',
  'audioInputTokens',
  'audioCacheReadTokens',
  'audioOutputTokens',
  'imageInputTokens',
  'imageOutputTokens',
  'videoInputTokens',
  'fileSearches',
  'mapSearches',
  'previewSearches',
] as const;
const COUNTED_TOKENS = [
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
  'audioInputTokens',
  'imageInputTokens',
  'imageOutputTokens',
] as const;

/** The sums of those counts that one of the two has. */
function sums<K extends string>(
  names: readonly K[],
  one: Partial<Record<K, number>>,
  two: Partial<Record<K, number>>,
): { [N in K]?: number } {
  const told: { [N in K]?: number } = {};
  for (const name of names) if (one[name] !== undefined || two[name] !== undefined) told[name] = (one[name] ?? 0) + (two[name] ?? 0);
  return told;
}

/** Lengths of an input from which some model costs more; between two of them every price rises evenly. */
export const LENGTHS = [128_000, 200_000, 271_999, 272_000] as const;

function passesOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, details = {} }: IrUsage): readonly PassUsage[] {
  const hour = details.cacheWrite1hTokens;
  const whole = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
  return details.passes ?? [hour === undefined ? whole : { ...whole, cacheWrite1hTokens: hour }];
}

/** Passes between the same lengths together. */
export function joinedPasses(passes: readonly PassUsage[]): PassUsage[] {
  const groups = new Map<number, PassUsage>();
  for (const pass of passes) {
    const { count = 1 } = pass;
    const length = LENGTHS.filter((from) => pass.inputTokens / count > from).length;
    const group = groups.get(length);
    groups.set(length, group === undefined ? { ...pass, count } : { ...addTokens(group, pass), count: (group.count ?? 1) + count });
  }
  return [...groups.values()];
}

function addTokens(one: PassUsage, two: PassUsage): PassUsage {
  return {
    inputTokens: one.inputTokens + two.inputTokens,
    outputTokens: one.outputTokens + two.outputTokens,
    ...sums<(typeof COUNTED_TOKENS)[number]>(COUNTED_TOKENS, one, two),
  };
}

/** What each model used beside the answer. */
export function joinedBeside(beside: readonly SideUsage[]): SideUsage[] {
  const models = new Map<string | undefined, SideUsage>();
  for (const one of beside) {
    const { passes: _of, units = [], ...pass } = one;
    const before = models.get(one.model);
    const passes = [...(before?.passes ?? []), ...(one.passes ?? [pass])];
    const named = one.model === undefined ? {} : { model: one.model };
    models.set(one.model, {
      ...(before === undefined ? pass : addTokens(before, one)),
      ...named,
      passes: joinedPasses(passes.map(tokensOf)),
      units: joinedUnits([...(before?.units ?? []), ...units]),
    });
  }
  return [...models.values()];
}

/** A pass without what does not go by its length. */
function tokensOf({ count, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens }: PassUsage): PassUsage {
  return {
    ...(count === undefined ? {} : { count }),
    inputTokens,
    outputTokens,
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    ...(cacheWrite1hTokens === undefined ? {} : { cacheWrite1hTokens }),
  };
}

function joinedUnits(units: readonly UnitUsage[]): UnitUsage[] {
  const kinds = new Map<string, UnitUsage>();
  for (const one of units) {
    const name = `${one.unit} ${one.kind ?? ''}`;
    kinds.set(name, { ...one, amount: one.amount + (kinds.get(name)?.amount ?? 0) });
  }
  return [...kinds.values()];
}
