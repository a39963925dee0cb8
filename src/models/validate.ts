import { editDistance } from '../contract/near-name.ts';
import type { AgentName, ModelCapabilities, ModelValidationResult } from '../contract/runs/coding-agent.ts';

const MOST_SUGGESTIONS = 5;
/** Shorter beginnings match too much to mean anything. */
const SHORTEST_PREFIX = 3;

/** The models a name can mean, by the first way that finds any: id, alias, provider's id, beginning of an id. */
function matches(models: readonly ModelCapabilities[], name: string): readonly ModelCapabilities[] {
  const byAlias = current(models.filter((model) => model.modelAlias === name));
  if (byAlias.length > 0) return byAlias;
  const isVendors = ({ modelId, provider, providerModelId }: ModelCapabilities): boolean =>
    providerModelId === name || (provider !== undefined && modelId === `${provider}/${name}`);
  const byProvider = current(models.filter(isVendors));
  if (byProvider.length > 0) return byProvider;
  return name.length < SHORTEST_PREFIX ? [] : current(models.filter((model) => model.modelId.startsWith(name)));
}

/** A name that moved from a deprecated model to a current one means the current one. */
function current(found: readonly ModelCapabilities[]): readonly ModelCapabilities[] {
  const alive = found.filter((model) => !model.deprecated);
  return alive.length > 0 ? alive : found;
}

/** Whether an agent can be asked for this model, and what to ask for instead. */
export function validateModel(agent: AgentName, models: readonly ModelCapabilities[], name: string): ModelValidationResult {
  const exact = models.find((model) => model.modelId === name);
  if (exact !== undefined)
    return exact.deprecated ? deprecated(exact) : { valid: true, status: 'ok', model: exact, message: `Model '${name}' is valid` };
  const found = matches(models, name);
  const [only] = found;
  if (only === undefined) return unknown(agent, models, name);
  if (found.length > 1) {
    const ids = found.map(({ modelId }) => modelId);
    return {
      valid: false,
      status: 'ambiguous',
      message: `'${name}' matches several models of agent '${agent}': ${ids.join(', ')}`,
      suggestions: ids,
    };
  }
  if (only.deprecated) return { ...deprecated(only), resolvedModelId: only.modelId };
  return { valid: true, status: 'alias', model: only, message: `'${name}' is model '${only.modelId}'`, resolvedModelId: only.modelId };
}

function deprecated(model: ModelCapabilities): ModelValidationResult {
  const { modelId, deprecatedSince, successorModelId } = model;
  const since = deprecatedSince === undefined ? '' : ` since ${deprecatedSince}`;
  const instead = successorModelId === undefined ? '' : `; use '${successorModelId}' instead`;
  return {
    valid: true,
    status: 'deprecated',
    model,
    message: `Model '${modelId}' is deprecated${since}${instead}`,
    ...(successorModelId !== undefined && { successorModelId }),
  };
}

function unknown(agent: AgentName, models: readonly ModelCapabilities[], name: string): ModelValidationResult {
  const names = models.flatMap(({ modelId, modelAlias }) => (modelAlias === undefined ? [modelId] : [modelId, modelAlias]));
  const near = suggestions(name, [...new Set(names)], MOST_SUGGESTIONS);
  const hint = near.length === 0 ? '' : `; did you mean ${near.map((one) => `'${one}'`).join(', ')}?`;
  return { valid: false, status: 'unknown', message: `Agent '${agent}' has no model '${name}'${hint}`, suggestions: near };
}

const LONGEST = 128;

/** The known names that a wrong one most likely meant, nearest first. */
function suggestions(name: string, known: readonly string[], most: number): string[] {
  const text = name.toLowerCase();
  // Names come from outside, and the distance costs the product of both lengths.
  if (text === '' || text.length > LONGEST) return [];
  return known
    .map((candidate) => ({ candidate, score: farness(text, candidate.toLowerCase()) }))
    .filter(({ score }) => score < 1)
    .sort((a, b) => a.score - b.score || a.candidate.localeCompare(b.candidate))
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** 0 for the same name, 1 and more for one that has nothing to do with it. */
function farness(text: string, candidate: string): number {
  const longer = Math.max(text.length, candidate.length);
  const edits = editDistance(text, candidate) / longer;
  // A typed part of a long name is near although many edits away.
  const part = text.length >= 3 && (candidate.includes(text) || text.includes(candidate)) ? 0.5 : 0;
  return (edits - part) / 0.6;
}
