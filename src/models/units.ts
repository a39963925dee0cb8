import type { BilledUnits } from './billed-usage.ts';

interface UnitPrice {
  readonly provider: string;
  readonly unit: BilledUnits['unit'];
  /** Absent where every model has it. */
  readonly model?: RegExp;
  /** Quality and size; absent where they do not matter. */
  readonly kind?: RegExp;
  /** For one of it, in billionths of a dollar. */
  readonly nanoUsd: number;
}

/**
 * Prices by the piece; the first row that matches counts, and what has no row has no price. Read 2026-11-20:
 * - Whisper $0.006 a minute, GPT Transcribe $0.27 an hour (github.com/pydantic/genai-prices, `audio_hours`).
 * - DALL-E and TTS ($15 and $30 a million characters): openai.com/pricing as github.com/osmorais/DiscoverOpenAI quotes it.
 * - Sora: $0.10 a second; Pro $0.30, $0.50 at 1024 and $0.70 at 1080 lines (docs.apiyi.com/en/api-capabilities/sora-2, which passes on the vendor's tiers).
 * - Imagen: ai.google.dev/gemini-api/docs/pricing as discuss.ai.google.dev/t/101173 quotes it. Veo: the same page by reapi.ai, of May 2026.
 * - Stored context: $4.50 for an hour of a million tokens on Pro, $1.00 on Flash (ai.google.dev/gemini-api/docs/pricing, 2026-11-15).
 * - Containers: $0.03 for one of 1 GB, four times that for each next size (developers.openai.com/api/docs/pricing).
 */
const PRICES: readonly UnitPrice[] = [
  { provider: 'openai', unit: 'audio_seconds', model: /^whisper-1/, nanoUsd: 100_000 },
  { provider: 'openai', unit: 'audio_seconds', model: /^gpt-transcribe/, nanoUsd: 75_000 },
  { provider: 'openai', unit: 'characters', model: /^tts-1-hd/, nanoUsd: 30_000 },
  { provider: 'openai', unit: 'characters', model: /^tts-1/, nanoUsd: 15_000 },
  { provider: 'openai', unit: 'images', model: /^dall-e-3/, kind: /^hd (?:1024x1792|1792x1024)$/, nanoUsd: 120_000_000 },
  { provider: 'openai', unit: 'images', model: /^dall-e-3/, kind: /^hd |1024x1792|1792x1024/, nanoUsd: 80_000_000 },
  { provider: 'openai', unit: 'images', model: /^dall-e-3/, nanoUsd: 40_000_000 },
  { provider: 'openai', unit: 'images', model: /^dall-e-2/, kind: /256x256/, nanoUsd: 16_000_000 },
  { provider: 'openai', unit: 'images', model: /^dall-e-2/, kind: /512x512/, nanoUsd: 18_000_000 },
  { provider: 'openai', unit: 'images', model: /^dall-e-2/, nanoUsd: 20_000_000 },
  { provider: 'openai', unit: 'video_seconds', model: /^sora-2-pro/, kind: /1920x1080|1080x1920/, nanoUsd: 700_000_000 },
  { provider: 'openai', unit: 'video_seconds', model: /^sora-2-pro/, kind: /1792x1024|1024x1792/, nanoUsd: 500_000_000 },
  { provider: 'openai', unit: 'video_seconds', model: /^sora-2-pro/, nanoUsd: 300_000_000 },
  { provider: 'openai', unit: 'video_seconds', model: /^sora-2/, nanoUsd: 100_000_000 },
  { provider: 'openai', unit: 'containers', kind: /^64g$/, nanoUsd: 1_920_000_000 },
  { provider: 'openai', unit: 'containers', kind: /^16g$/, nanoUsd: 480_000_000 },
  { provider: 'openai', unit: 'containers', kind: /^4g$/, nanoUsd: 120_000_000 },
  { provider: 'openai', unit: 'containers', nanoUsd: 30_000_000 },
  { provider: 'google', unit: 'images', model: /^imagen-4.*fast/, nanoUsd: 20_000_000 },
  { provider: 'google', unit: 'images', model: /^imagen-4.*ultra/, nanoUsd: 60_000_000 },
  { provider: 'google', unit: 'images', model: /^imagen-4/, nanoUsd: 40_000_000 },
  { provider: 'google', unit: 'images', model: /^imagen-3/, nanoUsd: 30_000_000 },
  { provider: 'google', unit: 'video_seconds', model: /^veo-3\.1-lite/, kind: /^1080p$/, nanoUsd: 80_000_000 },
  { provider: 'google', unit: 'video_seconds', model: /^veo-3\.1-lite/, nanoUsd: 50_000_000 },
  { provider: 'google', unit: 'video_seconds', model: /^veo-3\.1-fast/, kind: /^4k$/, nanoUsd: 300_000_000 },
  { provider: 'google', unit: 'video_seconds', model: /^veo-3\.1-fast/, kind: /^1080p$/, nanoUsd: 120_000_000 },
  { provider: 'google', unit: 'video_seconds', model: /^veo-3\.1-fast/, nanoUsd: 100_000_000 },
  { provider: 'google', unit: 'video_seconds', model: /^veo-3\.1/, kind: /^4k$/, nanoUsd: 600_000_000 },
  { provider: 'google', unit: 'video_seconds', model: /^veo-3\.0-fast/, nanoUsd: 150_000_000 },
  { provider: 'google', unit: 'video_seconds', model: /^veo-3/, nanoUsd: 400_000_000 },
  { provider: 'google', unit: 'cache_token_hours', model: /-pro/, nanoUsd: 4500 },
  { provider: 'google', unit: 'cache_token_hours', model: /-flash/, nanoUsd: 1000 },
];

/** What pieces cost; undefined where one of them has no price. */
export function unitsPrice(units: readonly BilledUnits[], model: string, provider: string): number | undefined {
  return units.reduce<number | undefined>((sum, { unit, amount, kind = '' }) => {
    const fits = (row: UnitPrice): boolean =>
      row.provider === provider && row.unit === unit && (row.model?.test(model) ?? true) && (row.kind?.test(kind) ?? true);
    const price = PRICES.find(fits);
    return sum === undefined || price === undefined ? undefined : sum + Math.round(amount * price.nanoUsd);
  }, 0);
}
