import type { SpawnPlan } from '../../adapter.ts';

/** Taken where nobody knows: the agents that ask for a number take no other answer. */
const USUAL_WINDOW = 200_000;

/** The context window of the model that will answer: as its engine says, else as the agent's own list has it. */
export function windowOf({ gateway, model }: Pick<SpawnPlan, 'gateway' | 'model'>): number {
  return gateway?.contextWindow ?? model?.contextWindow ?? USUAL_WINDOW;
}
