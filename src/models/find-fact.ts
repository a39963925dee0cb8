import { anthropic } from './facts/anthropic.ts';
import { google } from './facts/google.ts';
import { openai } from './facts/openai.ts';
import { routed } from './facts/routed.ts';
import type { ModelFact } from './model-fact.ts';

const FACTS: readonly ModelFact[] = [...Object.values(anthropic), ...Object.values(google), ...Object.values(openai), ...routed];
const byName = new Map(
  FACTS.flatMap((fact) => [fact.id, ...(fact.datedId === undefined ? [] : [fact.datedId])].map((name) => [name, fact])),
);

/** The fact about a model by the name that its vendor gives it; undefined for a name that is in no list. */
export function findFact(name: string): ModelFact | undefined {
  return byName.get(name);
}

/** Current models of a provider that facts are known about. */
export function factsOf(provider: string): readonly ModelFact[] {
  return FACTS.filter((fact) => fact.provider === provider && fact.deprecated === undefined);
}
