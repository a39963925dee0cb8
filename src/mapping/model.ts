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

/** Later rows speak over earlier ones. `dialect`: the one that the engine is spoken to in, where the caller's is another. */
export function modelFacts(engine: Engine, model: string, dialect?: string): ModelFacts {
  const rows = engine.models.filter((row) => globMatch(row.match, model));
  return {
    manifest: Object.assign(
      {},
      engine.manifest,
      engine.speaking?.[dialect ?? ''],
      ...rows.map((row) => row.manifest),
    ) as CapabilityManifest, // every source is one
    lower: {
      lacks: new Set<Concept>(rows.flatMap((row) => row.lacks ?? [])),
      traits: new Set(rows.flatMap((row) => row.traits ?? [])),
      defaultMaxTokens: rows.findLast((row) => row.defaultMaxTokens !== undefined)?.defaultMaxTokens ?? DEFAULT_MAX_TOKENS,
    },
  };
}
