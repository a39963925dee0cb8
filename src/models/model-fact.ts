import type { ThinkingEffortLevel } from '../contract/runs/coding-agent.ts';

/** Prices of a vendor's list, in US dollars per million tokens. */
export interface ListPrice {
  readonly input: number;
  readonly output: number;
  /** Input that was read from the cache. */
  readonly cached?: number;
  readonly cacheWrite?: number;
}

/** Prices that hold for the whole request once its input is longer than this. */
export interface PriceTier extends ListPrice {
  readonly inputTokensAbove: number;
}

/** How a model thinks. */
export interface ThinkingFact {
  readonly levels: readonly ThinkingEffortLevel[];
  /** Budgets in tokens that the vendor takes; absent where it takes none. */
  readonly budget?: readonly [number, number];
  /** The most it can think, where no budget says so. */
  readonly most?: number;
}

/** Facts about a model that hold whichever agent drives it. */
export interface ModelFact {
  readonly id: string;
  /** The dated id of the same model, where the vendor has one. */
  readonly datedId?: string;
  readonly name: string;
  readonly provider: 'anthropic' | 'openai' | 'google' | 'other';
  readonly protocol: 'chat' | 'responses' | 'messages' | 'custom';
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly price?: ListPrice;
  readonly tiers?: readonly PriceTier[];
  /** Absent: it does not think. */
  readonly thinking?: ThinkingFact;
  readonly images: boolean;
  readonly files: boolean;
  readonly jsonMode: boolean;
  readonly structuredOutput: boolean;
  /** The vendor has deprecated or retired it. */
  readonly deprecated?: { readonly since?: string; readonly successor?: string };
}
