import { endpointModels } from '../../adapters/endpoint-models.ts';
import { globMatch } from '../../base/glob.ts';
import { parseJson } from '../../base/json.ts';
import { nodeFetch } from '../../base/node-fetch.ts';
import { packageVersion } from '../../base/own-files.ts';
import type { Deployment } from '../../calls/deployment.ts';
import { engineHeaders } from '../../calls/headers.ts';

/** A server on the same desk answers at once; nobody waits for one that does not. */
const ANSWER_MS = 2000;

/** Tokens that a model takes: by the configuration, by the engine's own list of models, or by the list of the vendor's prices. */
export async function contextWindowOf(deployment: Deployment, model: string): Promise<number | undefined> {
  const { engine } = deployment;
  const row = engine.models.findLast((one) => one.contextWindow !== undefined && globMatch(one.match, model));
  if (row?.contextWindow !== undefined) return row.contextWindow;
  if (engine.auth?.optional === true || engine.base !== undefined) return await listedWindow(deployment, model);
  if (engine.prices === undefined) return undefined;
  const { catalogueOf } = await import('../../models/catalogue.ts');
  return catalogueOf(engine.prices).find(({ id }) => id === model)?.contextWindow;
}

/** The window that the engine's list tells; undefined where it has no such list, or tells none, or does not answer. */
async function listedWindow(deployment: Deployment, model: string): Promise<number | undefined> {
  const { origin, basePath } = deployment;
  try {
    const answer = await nodeFetch(`${origin}${basePath}/v1/models`, {
      headers: Object.fromEntries(pairs(engineHeaders(deployment, {}, packageVersion()))),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const parsed = parseJson(await answer.text());
    if (!answer.ok || !parsed.ok) return undefined;
    return endpointModels(parsed.value).find(({ modelId }) => modelId === model)?.contextWindow;
  } catch {
    // The agent then takes what it takes of models that it does not know, as it did before anybody asked.
    return undefined;
  }
}

function pairs(flat: readonly string[]): (readonly [string, string])[] {
  return Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at] ?? '', flat[2 * at + 1] ?? ''] as const);
}
