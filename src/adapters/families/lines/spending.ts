import type { CostRecord } from '../../../contract/runs/event-table.ts';
import type { EventDraft } from '../../adapter.ts';

/** Tokens of one model call as the agent counted them. */
export interface CallUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly thinkingTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  /** Undefined where the agent names no price. */
  readonly usd?: number;
}

/** Adds up what a run has used. A total of zero dollars is no cost: the agent just knew no price. */
export class Spending {
  #total: CostRecord = { totalUsd: 0, inputTokens: 0, outputTokens: 0 };

  add(usage: CallUsage): readonly EventDraft[] {
    const { inputTokens, outputTokens, thinkingTokens, cacheReadTokens } = usage;
    this.#total = sum(this.#total, usage);
    const tokens: EventDraft = {
      type: 'token_usage',
      inputTokens,
      outputTokens,
      ...(thinkingTokens !== undefined && { thinkingTokens }),
      ...(cacheReadTokens !== undefined && { cachedTokens: cacheReadTokens }),
    };
    const cost = this.cost();
    return cost === undefined ? [tokens] : [tokens, { type: 'cost', cost }];
  }

  /** The agent told the total of the run by itself, tokens included. */
  stands(total: CostRecord): readonly EventDraft[] {
    this.#total = total;
    const cost = this.cost();
    return cost === undefined ? [] : [{ type: 'cost', cost }];
  }

  cost(): CostRecord | undefined {
    return this.#total.totalUsd > 0 ? this.#total : undefined;
  }
}

function sum(total: CostRecord, usage: CallUsage): CostRecord {
  const thinkingTokens = plus(total.thinkingTokens, usage.thinkingTokens);
  const cacheReadTokens = plus(total.cacheReadTokens, usage.cacheReadTokens);
  const cacheCreationTokens = plus(total.cacheCreationTokens, usage.cacheWriteTokens);
  return {
    totalUsd: total.totalUsd + (usage.usd ?? 0),
    inputTokens: total.inputTokens + usage.inputTokens,
    outputTokens: total.outputTokens + usage.outputTokens,
    ...(thinkingTokens !== undefined && { thinkingTokens }),
    ...(cacheReadTokens !== undefined && { cacheReadTokens, cachedTokens: cacheReadTokens }),
    ...(cacheCreationTokens !== undefined && { cacheCreationTokens }),
  };
}

function plus(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}
