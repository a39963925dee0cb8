import { globMatch } from '../../base/glob.ts';
import type { Balancer } from '../../calls/balancing/balancer.ts';
import type { Scopes } from '../../calls/scopes.ts';
import { AbpError } from '../../contract/errors.ts';
import { nearName, slipOf } from '../../contract/near-name.ts';
import type { Engine } from '../../engines/engine.ts';
import type { Gateway } from '../gateway.ts';

type Known = { readonly routes: Pick<Gateway['routes'], 'rows'> } & {
  readonly calls: { readonly deployments: ReadonlyMap<string, Pick<Balancer, 'engine'>> };
};

const NO_TOKENS = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, webSearchRequests: 0 };

/**
 * Refuses scopes that can only be a slip: an engine that there is not, and the whole name of a model that no engine of the key has. Engines
 * that serve whatever is installed on them have no list to compare with; for those, only a name that is a known one misspelt is refused.
 */
export async function assertKnownScopes(
  { calls, routes }: Known,
  { engines = [], models = [] }: Pick<Scopes, 'engines' | 'models'>,
): Promise<void> {
  const all = [...calls.deployments.values()].map(({ engine }) => engine);
  const ids = all.map(({ id }) => id);
  for (const pattern of engines) {
    const [id = pattern] = pattern.split(':');
    if (!ids.some((known) => globMatch(id, known))) throw unknown('engine', pattern, nearName(id, ids));
  }
  const usable = engines.length === 0 ? all : all.filter(({ id }) => engines.some((pattern) => globMatch(pattern.split(':')[0] ?? '', id)));
  for (const name of models.filter((one) => !one.includes('*'))) {
    if (routes.rows.some(({ match }) => globMatch(match, name)) || (await isKnown(usable, name))) continue;
    const listed = await listedBy(usable);
    const slip = slipIn(name, listed);
    if (slip !== undefined || !usable.some(isOpen)) throw unknown('model', name, slip ?? nearName(name, listed));
  }
}

function unknown(what: 'engine' | 'model', name: string, near: string | undefined): AbpError {
  const meant = near === undefined ? '' : ` Did you mean ${near}?`;
  const way = what === 'model' ? ` A pattern such as "${name}*" is taken as it is.` : '';
  return new AbpError('invalid_request', `The key may use the ${what} "${name}", which nobody here knows.${meant}${way}`, { [what]: name });
}

/** The listed model whose name was misspelt. Names that differ in digits and signs alone are other versions or sizes, not slips. */
function slipIn(name: string, listed: readonly string[]): string | undefined {
  const letters = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '');
  return slipOf(
    name,
    listed.filter((one) => letters(one) !== letters(name)),
  );
}

/** Its models are those that somebody put there. */
function isOpen({ prices, transport, base, models }: Engine): boolean {
  return transport === undefined && (base === undefined ? prices === undefined : models.length === 0);
}

async function isKnown(engines: readonly Engine[], name: string): Promise<boolean> {
  const { costOf } = await import('../../models/cost.ts');
  return engines.some(({ id, prices, sample, base, models }) => {
    const bare = name.startsWith(`${id}/`) ? name.slice(id.length + 1) : name;
    // The rows of built-in engines are for whole families of models; those of an engine of its own name its models.
    if (bare === sample || (base !== undefined && models.some(({ match }) => globMatch(match, bare)))) return true;
    return prices !== undefined && costOf(NO_TOKENS, bare, prices, new Date()) !== undefined;
  });
}

async function listedBy(engines: readonly Engine[]): Promise<string[]> {
  const { catalogueOf } = await import('../../models/catalogue.ts');
  return engines.flatMap(({ prices, sample }) => [
    ...(sample === undefined ? [] : [sample]),
    ...(prices === undefined ? [] : catalogueOf(prices).map(({ id }) => id)),
  ]);
}
