import { expect, test } from 'vitest';
import type { BilledDetails, BilledUnits, BilledUsage, OtherUsage, PassUsage } from './billed-usage.ts';
import { costOf } from './cost.ts';

const at = new Date('2026-11-15T00:00:00Z');
const CLAUDE = 'platform.claude.com/docs/en/about-claude/pricing, 2026-11-15';
const OPENAI = 'platform.openai.com/docs/pricing, 2026-11-15';
/** Not the vendor's own page. */
const GPT_4O_AUDIO = 'aitoolrank.net/model/openai--gpt-4o-audio-preview, 2026-11-18';
const GPT_4O_MINI_AUDIO = 'github.com/pydantic/genai-prices, audio of gpt-4o-mini-realtime-preview, 2026-11-18';
const GOOGLE = 'ai.google.dev/gemini-api/docs/pricing, 2026-11-15';
const PRIORITY = 'openai.com/api-priority-processing, 2026-11-15';
const TIERS = 'ai.google.dev/gemini-api/docs/optimization, 2026-11-15';
const RESIDENCY = 'developers.openai.com/api/docs/guides/data-residency.md, 2026-11-20';
const PREVIEW = 'community.openai.com/t/1347529, 2026-11-20';
const BLOCK = 'modelcostwatch.com/openai/tool-costs/web-search, 2026-11-20';
const PIECES = 'openai.com/pricing as github.com/osmorais/DiscoverOpenAI quotes it, 2026-11-20';
const LIST = 'github.com/pydantic/genai-prices, 2026-11-20';
const SORA = 'docs.apiyi.com/en/api-capabilities/sora-2, 2026-11-20';
const IMAGEN = 'discuss.ai.google.dev/t/101173, 2026-11-20';
const VEO = 'reapi.ai/ru/blog/cheapest-veo-3-1-api-2026, 2026-11-20';
const SEED = 'a search is $10.00 per 1,000 calls plus the premium of grounding';

/** Tokens read, written, read from the cache, written to it; then searches, and what has a price of its own. */
type Used = readonly [input: number, output: number, read?: number, write?: number, searches?: number, details?: BilledDetails];

function usage([inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, webSearchRequests = 0, details]: Used): BilledUsage {
  const counts = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, webSearchRequests };
  return details === undefined ? counts : { ...counts, details };
}

function other(model: string, inputTokens: number, outputTokens: number, details: BilledDetails = {}): OtherUsage {
  return { model, inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, webSearchRequests: 0, details };
}

function passes(count: number, inputTokens: number, outputTokens: number): PassUsage {
  return { count, inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0 };
}

function pieces(unit: BilledUnits['unit'], amount: number, kind?: string): Used {
  return [0, 0, 0, 0, 0, { units: [kind === undefined ? { unit, amount } : { unit, amount, kind }] }];
}

/** Computed by hand from the page named: what was used, at dollars per million, in billionths of a dollar. */
const CASES: readonly (readonly [provider: string, model: string, used: Used, nanoUsd: number, how: string, source: string])[] = [
  ['anthropic', 'claude-sonnet-4-5', [1000, 100], 4_500_000, '1000×3 + 100×15', CLAUDE],
  ['anthropic', 'claude-sonnet-4-5', [1000, 0, 1000], 300_000, '1000×0.30', CLAUDE],
  ['anthropic', 'claude-sonnet-4-5', [1000, 0, 0, 1000], 3_750_000, '1000×3.75, five minutes', CLAUDE],
  ['anthropic', 'claude-sonnet-4-5', [1000, 0, 0, 1000, 0, { cacheWrite1hTokens: 1000 }], 6_000_000, '1000×6, one hour', CLAUDE],
  ['anthropic', 'claude-sonnet-4-5', [1000, 0, 0, 1000, 0, { cacheWrite1hTokens: 400 }], 4_650_000, '600×3.75 + 400×6', CLAUDE],
  ['anthropic', 'claude-sonnet-4-5', [300_000, 1000], 1_822_500_000, '300000×6 + 1000×22.50, above 200K', CLAUDE],
  ['anthropic', 'claude-sonnet-4-5', [1000, 100, 0, 0, 3], 34_500_000, 'tokens + 3 searches', CLAUDE],
  ['anthropic', 'claude-sonnet-4-5', [1000, 100, 0, 0, 0, { tier: 'batch' }], 2_250_000, 'half of 4500000', CLAUDE],
  ['anthropic', 'claude-haiku-4-5', [2000, 1000], 7_000_000, '2000×1 + 1000×5', CLAUDE],
  ['anthropic', 'claude-haiku-4-5', [2000, 0, 0, 2000, 0, { cacheWrite1hTokens: 2000 }], 4_000_000, '2000×2', CLAUDE],
  ['anthropic', 'claude-haiku-4-5', [500, 0, 500], 50_000, '500×0.10', CLAUDE],
  ['anthropic', 'claude-opus-4-5', [1000, 1000], 30_000_000, '1000×5 + 1000×25', CLAUDE],
  ['anthropic', 'claude-opus-4-6', [1000, 1000, 0, 0, 0, { tier: 'fast' }], 180_000_000, '1000×30 + 1000×150', CLAUDE],
  ['anthropic', 'claude-opus-4-6', [1000, 1000, 0, 0, 0, { region: 'us' }], 33_000_000, '30000000×1.1', CLAUDE],
  ['anthropic', 'claude-opus-4-6', [1000, 1000, 0, 0, 0, { tier: 'batch', region: 'us' }], 16_500_000, '30000000×0.5×1.1', CLAUDE],
  ['openai', 'gpt-4o', [1000, 100], 3_500_000, '1000×2.50 + 100×10', OPENAI],
  ['openai', 'gpt-4o', [1000, 0, 400], 2_000_000, '600×2.50 + 400×1.25', OPENAI],
  ['openai', 'gpt-4o', [1000, 100, 0, 0, 0, { tier: 'priority' }], 5_950_000, '1000×4.25 + 100×17', OPENAI],
  ['openai', 'gpt-4o', [1000, 100, 0, 0, 0, { tier: 'batch' }], 1_750_000, '1000×1.25 + 100×5', OPENAI],
  ['openai', 'gpt-4o', [1000, 100, 0, 0, 1, { fileSearches: 2 }], 18_500_000, 'tokens + 10 per thousand + 2×2.50 per thousand', OPENAI],
  ['openai', 'gpt-4.1', [10_000, 1000], 28_000_000, '10000×2 + 1000×8', OPENAI],
  ['openai', 'gpt-4.1', [10_000, 1000, 0, 0, 0, { tier: 'priority' }], 49_000_000, '10000×3.50 + 1000×14', OPENAI],
  ['openai', 'gpt-4.1-mini', [10_000, 1000, 0, 0, 0, { tier: 'priority' }], 9_800_000, '10000×0.70 + 1000×2.80', PRIORITY],
  ['openai', 'gpt-4.1-nano', [10_000, 1000, 0, 0, 0, { tier: 'priority' }], 2_800_000, '10000×0.20 + 1000×0.80', PRIORITY],
  ['openai', 'gpt-4o-2024-05-13', [1000, 100, 0, 0, 0, { tier: 'priority' }], 11_375_000, '1000×8.75 + 100×26.25', PRIORITY],
  ['openai', 'gpt-4o-mini', [1000, 1000, 0, 0, 0, { tier: 'priority' }], 1_250_000, '1000×0.25 + 1000×1', PRIORITY],
  ['openai', 'gpt-5.2', [1000, 1000, 0, 0, 0, { tier: 'priority' }], 31_500_000, '1000×3.50 + 1000×28', PRIORITY],
  ['openai', 'gpt-5', [1000, 1000], 11_250_000, '1000×1.25 + 1000×10', OPENAI],
  ['openai', 'gpt-5', [1000, 1000, 0, 0, 0, { tier: 'flex' }], 5_625_000, '1000×0.625 + 1000×5', OPENAI],
  ['openai', 'gpt-5', [1000, 1000, 0, 0, 0, { tier: 'priority' }], 22_500_000, '1000×2.50 + 1000×20', OPENAI],
  ['openai', 'gpt-5-mini', [1000, 1000, 0, 0, 0, { tier: 'priority' }], 4_050_000, '1000×0.45 + 1000×3.60', OPENAI],
  ['openai', 'o3', [1000, 1000, 0, 0, 0, { tier: 'flex' }], 5_000_000, '1000×1 + 1000×4', OPENAI],
  ['openai', 'o4-mini', [1000, 1000, 0, 0, 0, { tier: 'priority' }], 10_000_000, '1000×2 + 1000×8', OPENAI],
  ['openai', 'gpt-audio', [1000, 0, 0, 0, 0, { audioInputTokens: 600 }], 20_200_000, '400×2.50 + 600×32', OPENAI],
  ['openai', 'gpt-audio', [0, 1000, 0, 0, 0, { audioOutputTokens: 500 }], 37_000_000, '500×10 + 500×64', OPENAI],
  ['openai', 'gpt-4o-audio-preview', [300, 0, 0, 0, 0, { audioInputTokens: 100 }], 4_500_000, '200×2.50 + 100×40', GPT_4O_AUDIO],
  ['openai', 'gpt-4o-audio-preview', [0, 200, 0, 0, 0, { audioOutputTokens: 150 }], 12_500_000, '50×10 + 150×80', GPT_4O_AUDIO],
  [
    'openai',
    'gpt-4o-mini-audio-preview',
    [200, 200, 0, 0, 0, { audioOutputTokens: 100 }],
    2_090_000,
    '200×0.15 + 100×0.60 + 100×20',
    GPT_4O_MINI_AUDIO,
  ],
  ['openai', 'text-embedding-3-small', [100_000, 0], 2_000_000, '100000×0.02', OPENAI],
  ['openai', 'text-embedding-3-large', [100_000, 0], 13_000_000, '100000×0.13', OPENAI],
  ['google', 'gemini-2.5-flash', [1000, 1000], 2_800_000, '1000×0.30 + 1000×2.50', GOOGLE],
  ['google', 'gemini-2.5-flash', [1000, 0, 0, 0, 0, { audioInputTokens: 1000 }], 1_000_000, '1000×1.00', GOOGLE],
  [
    'google',
    'gemini-2.5-flash',
    [1000, 0, 500, 0, 0, { audioInputTokens: 600, audioCacheReadTokens: 300 }],
    396_000,
    '200×0.30 + 200×0.03 + 300×1.00 + 300×0.10',
    GOOGLE,
  ],
  [
    'google',
    'gemini-2.5-flash',
    [1000, 0, 500, 0, 0, { audioInputTokens: 600 }],
    522_000,
    '400×0.03 + 100×0.10 + 500×1.00: as much audio from the cache as there must be',
    GOOGLE,
  ],
  [
    'anthropic',
    'claude-sonnet-4-6',
    [2414, 3200, 0, 0, 0, { others: [other('claude-opus-4-7', 2728, 874)] }],
    90_732_000,
    '2414×3 + 3200×15, and an advisor: 2728×5 + 874×25',
    CLAUDE,
  ],
  [
    'anthropic',
    'claude-sonnet-4-6',
    [1000, 0, 0, 0, 0, { tier: 'batch', region: 'us', others: [other('claude-opus-4-7', 1000, 0)] }],
    4_400_000,
    '(1000×3 + 1000×5) × 0.5 × 1.1: the advisor is part of the batch',
    CLAUDE,
  ],
  [
    'openai',
    'gpt-5-mini',
    [1000, 100, 0, 0, 0, { tier: 'priority', others: [other('gpt-image-1', 250, 1056, { imageInputTokens: 200 })] }],
    45_300_000,
    '1000×0.45 + 100×3.60, and a picture: 50×5 + 200×10 + 1056×40, at the usual price',
    OPENAI,
  ],
  [
    'openai',
    'gpt-5',
    [0, 0, 0, 0, 0, { others: [other('gpt-image-1.5', 100, 1100, { imageOutputTokens: 1000 })] }],
    33_500_000,
    '100×5 + 100×10 + 1000×32: text beside the picture',
    OPENAI,
  ],
  ['google', 'gemini-2.5-flash', [0, 0, 0, 0, 0, { mapSearches: 1 }], 25_000_000, 'one prompt on a map', GOOGLE],
  ['google', 'gemini-3-flash-preview', [0, 0, 0, 0, 0, { mapSearches: 1 }], 14_000_000, 'one query on a map', GOOGLE],
  ['google', 'gemini-2.5-flash', [0, 0, 0, 0, 3], 35_000_000, 'one grounded prompt, whatever its queries', `${GOOGLE}; ${SEED}`],
  ['google', 'gemini-3-pro-preview', [0, 0, 0, 0, 3], 42_000_000, 'three queries at 14 per thousand', `${GOOGLE}; ${SEED}`],
  ['google', 'gemini-2.5-flash-image', [100, 1290, 0, 0, 0, { imageOutputTokens: 1290 }], 38_730_000, '100×0.30 + 1290×30', GOOGLE],
  ['google', 'gemini-3-pro-image-preview', [100, 1120, 0, 0, 0, { imageOutputTokens: 1120 }], 134_600_000, '100×2 + 1120×120', GOOGLE],
  ['google', 'gemini-2.5-pro', [300_000, 1000], 765_000_000, '300000×2.50 + 1000×15, above 200K', GOOGLE],
  ['google', 'gemini-2.5-pro', [1000, 1000, 0, 0, 0, { tier: 'batch' }], 5_625_000, 'half of 1000×1.25 + 1000×10', GOOGLE],
  ['google', 'gemini-2.5-pro', [1000, 1000, 0, 0, 0, { tier: 'priority' }], 20_250_000, '1.8 × (1000×1.25 + 1000×10)', TIERS],
  ['google', 'gemini-2.5-pro', [1000, 1000, 0, 0, 0, { tier: 'flex' }], 5_625_000, 'half of 1000×1.25 + 1000×10', TIERS],
  ['google', 'gemini-embedding-001', [10_000, 0], 1_500_000, '10000×0.15', GOOGLE],
  ['google', 'gemini-embedding-2', [1000, 0, 0, 0, 0, { imageInputTokens: 600 }], 350_000, '400×0.20 + 600×0.45', LIST],
  [
    'anthropic',
    'claude-sonnet-4-5',
    [300_000, 2000, 0, 0, 0, { passes: [passes(2, 300_000, 2000)] }],
    930_000_000,
    '300000×3 + 2000×15: neither of the two passes is above 200K',
    CLAUDE,
  ],
  [
    'anthropic',
    'claude-sonnet-4-5',
    [300_000, 2000, 0, 0, 0, { passes: [passes(1, 250_000, 1000), passes(1, 50_000, 1000)] }],
    1_687_500_000,
    '250000×6 + 1000×22.50, and 50000×3 + 1000×15',
    CLAUDE,
  ],
  [
    'google',
    'gemini-2.5-pro',
    [300_000, 3000, 0, 0, 0, { tier: 'batch', passes: [passes(300, 300_000, 3000)] }],
    202_500_000,
    'half of 300000×1.25 + 3000×10: three hundred requests of one batch',
    GOOGLE,
  ],
  ['openai', 'gpt-4o', [347, 540, 0, 0, 1, { previewSearches: 1 }], 31_267_500, '347×2.50 + 540×10 + 25 per thousand', PREVIEW],
  ['openai', 'gpt-5', [1000, 100, 0, 0, 1, { previewSearches: 1 }], 12_250_000, '1000×1.25 + 100×10 + 10 per thousand', PREVIEW],
  [
    'openai',
    'gpt-4o-search-preview',
    [100, 100, 0, 0, 1, { previewSearches: 1 }],
    26_250_000,
    '100×2.50 + 100×10 + 25 per thousand',
    PREVIEW,
  ],
  ['openai', 'gpt-4.1', [1000, 100, 0, 0, 2], 22_800_000, '1000×2 + 100×8 + 2×10 per thousand', BLOCK],
  ['openai', 'gpt-4.1-mini', [300, 100, 0, 0, 1], 13_480_000, '(300+8000)×0.40 + 100×1.60 + 10 per thousand', BLOCK],
  ['openai', 'gpt-4.1-mini', [8300, 100, 0, 0, 1], 13_480_000, '8300×0.40 + 100×1.60 + 10 per thousand: told with what was found', BLOCK],
  ['openai', 'gpt-5.4', [1000, 1000, 0, 0, 0, { region: 'eu' }], 19_250_000, '1.1 × (1000×2.50 + 1000×15)', RESIDENCY],
  ['openai', 'gpt-5.4', [1000, 1000, 0, 0, 0, { region: 'us', tier: 'batch' }], 9_625_000, '1.1 × half of 17500000', RESIDENCY],
  ['openai', 'gpt-5.2', [1000, 1000, 0, 0, 0, { region: 'eu' }], 15_750_000, '1000×1.75 + 1000×14: released before', RESIDENCY],
  ['openai', 'gpt-image-1', [50, 1056, 0, 0, 0, { imageInputTokens: 40 }], 42_690_000, '10×5 + 40×10 + 1056×40', OPENAI],
  ['openai', 'gpt-4o-transcribe', [1000, 100, 0, 0, 0, { audioInputTokens: 1000 }], 7_000_000, '1000×6 + 100×10', LIST],
  ['openai', 'gpt-4o-mini-tts', [14, 101], 1_220_400, '14×0.60 + 101×12', LIST],
  ['openai', 'whisper-1', pieces('audio_seconds', 90), 9_000_000, '1.5 minutes at 0.006', PIECES],
  ['openai', 'tts-1', pieces('characters', 2000), 30_000_000, '2000 at 15 a million', PIECES],
  ['openai', 'tts-1-hd', pieces('characters', 2000), 60_000_000, '2000 at 30 a million', PIECES],
  ['openai', 'dall-e-3', pieces('images', 1, 'standard 1024x1024'), 40_000_000, '0.040', PIECES],
  ['openai', 'dall-e-3', pieces('images', 2, 'standard 1792x1024'), 160_000_000, '2×0.080', PIECES],
  ['openai', 'dall-e-3', pieces('images', 1, 'hd 1024x1024'), 80_000_000, '0.080', PIECES],
  ['openai', 'dall-e-3', pieces('images', 1, 'hd 1024x1792'), 120_000_000, '0.120', PIECES],
  ['openai', 'dall-e-2', pieces('images', 3, 'standard 512x512'), 54_000_000, '3×0.018', PIECES],
  ['openai', 'sora-2', pieces('video_seconds', 8, '1280x720'), 800_000_000, '8×0.10', SORA],
  ['openai', 'sora-2-pro', pieces('video_seconds', 4, '1792x1024'), 2_000_000_000, '4×0.50', SORA],
  ['google', 'imagen-4.0-fast-generate-001', pieces('images', 4), 80_000_000, '4×0.02', IMAGEN],
  ['google', 'imagen-4.0-generate-001', pieces('images', 1), 40_000_000, '0.04', IMAGEN],
  ['google', 'veo-3.1-fast-generate-preview', pieces('video_seconds', 8, '1080p'), 960_000_000, '8×0.12', VEO],
  ['google', 'veo-3.1-generate-preview', pieces('video_seconds', 8, '4k'), 4_800_000_000, '8×0.60', VEO],
  ['google', 'gemini-2.5-pro', pieces('cache_token_hours', 100_000), 450_000_000, '100000 tokens for an hour at 4.50', GOOGLE],
];

test.each(CASES)('%s %s: %j costs %d', (provider, model, used, nanoUsd) => {
  expect(costOf(usage(used), model, provider, at)).toBe(nanoUsd);
});

test('a model beside the answer that has no price leaves the whole without one', () => {
  expect(costOf(usage([1000, 100, 0, 0, 0, { others: [other('no-such-model', 1, 1)] }]), 'gpt-5', 'openai', at)).toBeUndefined();
});

test('what has no price by the piece leaves the whole without one', () => {
  expect(costOf(usage(pieces('images', 1)), 'some-painter', 'openai', at)).toBeUndefined();
  expect(costOf(usage([10, 10, 0, 0, 0, { units: [{ unit: 'images', amount: 1 }] }]), 'gpt-4o', 'openai', at)).toBeUndefined();
});

test('every case says how it was computed, and from which page', () => {
  expect(CASES.length).toBeGreaterThanOrEqual(40);
  for (const [, , , , how, source] of CASES) expect([how === '', /2026-11-\d\d/.test(source)]).toEqual([false, true]);
});
