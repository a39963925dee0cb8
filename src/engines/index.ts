import { claude } from './claude/engine.ts';
import type { Engine } from './engine.ts';
import { gemini } from './gemini/engine.ts';
import { openai } from './openai/engine.ts';
import { sim } from './sim/engine.ts';

/** Every engine, in the order tables show them. */
export const engines: readonly Engine[] = [claude, openai, gemini, sim];

const byName = new Map(engines.flatMap((engine) => [engine.id, ...engine.aliases].map((name) => [name, engine] as const)));

export function findEngine(name: string): Engine | undefined {
  return byName.get(name);
}
