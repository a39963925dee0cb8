import { globMatch } from '../base/glob.ts';
import { AbpError } from '../contract/errors.ts';
import type { Check } from './admission.ts';

/** Engines and models that the operator denies to everybody, as globs. */
export interface DeniedEngines {
  readonly engines: readonly string[];
  readonly models: readonly string[];
}

/** Refuses calls to denied engines and models on every way. */
export function deniedEngines({ engines, models }: DeniedEngines): Check {
  const refused = (rule: string, pattern: string, name: string): AbpError =>
    new AbpError('E005', `${name} is denied here by ${rule}: ${pattern}.`, { operation: 'call', policy_rule: `${rule}: ${pattern}` });
  return {
    name: 'denied engines',
    check: ({ engine, model }) => {
      const id = engine?.split(':')[0] ?? '';
      const byEngine = engines.find((pattern) => globMatch(pattern, id) || globMatch(pattern, engine ?? ''));
      if (byEngine !== undefined) return refused('deny_engines', byEngine, `The engine ${engine}`);
      const byModel = model === null ? undefined : models.find((pattern) => globMatch(pattern, model));
      return byModel === undefined ? undefined : refused('deny_models', byModel, `The model ${model}`);
    },
  };
}
