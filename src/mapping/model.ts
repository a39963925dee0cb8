import { globMatch } from '../base/glob.ts';
import type { CapabilityManifest } from '../contract/support.ts';
import type { LowerContext } from '../dialects/dialect.ts';
import type { Engine } from '../engines/engine.ts';
import type { Concept } from '../ir/concept.ts';

const DEFAULT_MAX_TOKENS = 4096;

/** An engine's manifest and forms for one model. */
export interface ModelFacts {
  readonly manifest: CapabilityManifest;
  readonly lower: LowerContext;
}

/** The facts about the models that were asked for last, by engine: calls name the same few again and again. */
const known = new WeakMap<Engine, Map<string, ModelFacts>>();
const MOST_KNOWN = 200;

/** `dialect`: the one that the engine is spoken to in, where the caller's is another. */
export function modelFacts(engine: Engine, model: string, dialect = ''): ModelFacts {
  const facts = known.get(engine) ?? new Map<string, ModelFacts>();
  const key = `${dialect} ${model}`;
  const found = facts.get(key);
  if (found !== undefined) return found;
  const made = newFacts(engine, model, dialect);
  if (facts.size >= MOST_KNOWN) facts.clear();
  known.set(engine, facts.set(key, made));
  return made;
}

/** Later rows speak over earlier ones. */
function newFacts(engine: Engine, model: string, dialect: string): ModelFacts {
  const rows = engine.models.filter((row) => globMatch(row.match, model));
  return {
    manifest: Object.assign({}, engine.manifest, engine.speaking?.[dialect], ...rows.map((row) => row.manifest)) as CapabilityManifest, // every source is one
    lower: {
      lacks: new Set<Concept>(rows.flatMap((row) => row.lacks ?? [])),
      traits: new Set(rows.flatMap((row) => row.traits ?? [])),
      defaultMaxTokens: rows.findLast((row) => row.defaultMaxTokens !== undefined)?.defaultMaxTokens ?? DEFAULT_MAX_TOKENS,
    },
  };
}
