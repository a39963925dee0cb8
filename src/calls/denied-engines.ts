import { globMatch } from '../base/glob.ts';
import { AbpError } from '../contract/errors.ts';
import { findEngine } from '../engines/index.ts';
import type { Check } from './admission.ts';
import type { Call } from './call.ts';

/** Engines and models that the operator denies to everybody, as globs. */
export interface DeniedEngines {
  readonly engines: readonly string[];
  readonly models: readonly string[];
}

/** Refuses calls to denied engines and models on every way. */
export function deniedEngines(denied: DeniedEngines): Check {
  return { name: 'denied engines', check: (call) => denialOf(denied, call) };
}

/** Why an engine is denied to everybody: then it is asked for nothing, its list of models included. */
export function engineDenial(engines: readonly string[], engine: string): AbpError | undefined {
  return denialOf({ engines, models: [] }, { engine, model: null });
}

/** Why a call is denied, in any case of letters: some servers know their models in each. */
export function denialOf(
  { engines, models }: DeniedEngines,
  { engine, model, moreModels = [] }: Pick<Call, 'engine' | 'model' | 'moreModels'>,
): AbpError | undefined {
  const refused = (rule: string, pattern: string, name: string): AbpError =>
    new AbpError('E005', `${name} is denied here by ${rule}: ${pattern}.`, { operation: 'call', policy_rule: `${rule}: ${pattern}` });
  const isNamed = (pattern: string, name: string): boolean => globMatch(pattern.toLowerCase(), name.toLowerCase());
  const id = engine?.split(':')[0] ?? '';
  // Another name of the engine counts where it is written out: a pattern is for the names that lists show.
  const aliases = engines.length === 0 ? [] : (findEngine(id)?.aliases ?? []);
  const byEngine = engines.find(
    (pattern) => isNamed(pattern, id) || isNamed(pattern, engine ?? '') || aliases.includes(pattern.toLowerCase()),
  );
  if (byEngine !== undefined) return refused('deny_engines', byEngine, `The engine ${engine}`);
  if (models.length === 0) return undefined;
  // A rule that nobody could hold would be no rule.
  if (moreModels === 'unknown') return refused('deny_models', models.join(', '), 'A call whose models are not known here');
  for (const name of [...(model === null ? [] : [model]), ...moreModels]) {
    const byModel = models.find((pattern) => isNamed(pattern, name));
    if (byModel !== undefined) return refused('deny_models', byModel, `The model ${name}`);
  }
  return undefined;
}
