/** Tiers whose price differs from the list; `auto` and `default` are the list. */
export function pricedTier(tier: unknown): 'flex' | 'priority' | 'batch' | undefined {
  return tier === 'flex' || tier === 'priority' || tier === 'batch' ? tier : undefined;
}
