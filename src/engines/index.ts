import { globMatch } from '../base/glob.ts';
import { AbpError } from '../contract/errors.ts';
import { nearName } from '../contract/near-name.ts';
import { claude } from './claude/engine.ts';
import { copilot } from './copilot/engine.ts';
import { type Engine, priceLists } from './engine.ts';
import { gemini } from './gemini/engine.ts';
import { kimi } from './kimi/engine.ts';
import { openai } from './openai/engine.ts';
import { openaiCompatible } from './openai-compatible/profiles.ts';
import { replay } from './replay/engine.ts';
import { sim } from './sim/engine.ts';

/** Every built-in engine, in the order tables show them. */
export const engines: readonly Engine[] = [claude, openai, gemini, kimi, copilot, ...openaiCompatible, sim, replay];

const byName = new Map(engines.flatMap((engine) => [engine.id, ...engine.aliases].map((name) => [name, engine] as const)));

/**
 * Engines that configurations add, by id. A name means the same engine in the whole process, on its threads too; where two servers
 * of one process give a name to different engines, the later one counts.
 */
const added = new Map<string, Engine>();

/** Makes engines of a configuration known by their names. */
export function addEngines(own: readonly Engine[]): void {
  for (const engine of own) added.set(engine.id, engine);
}

/** The engines that configurations have added. */
export function addedEngines(): readonly Engine[] {
  return [...added.values()];
}

/** The list that the calls of each known engine are priced by, by its id. */
export function knownPrices(): Readonly<Record<string, string>> {
  return priceLists([...engines, ...added.values()]);
}

/** A built-in engine of an id or alias. */
export function builtInEngine(name: string): Engine | undefined {
  return byName.get(name);
}

/** The engine of an id or alias. */
export function findEngine(name: string): Engine | undefined {
  return byName.get(name) ?? added.get(name);
}

/** The error for a name that no engine has. */
export function unknownEngine(name: string): AbpError {
  const ids = [...engines, ...added.values()].map(({ id }) => id);
  const near = nearName(name.split(':')[0] ?? name, ids);
  const hint = near === undefined || near === name ? '' : ` Did you mean ${near}?`;
  return new AbpError('not_found', `There is no engine "${name}".${hint} Known are ${ids.join(', ')}.`, { engine: name });
}

/** The engine of the vendor whose dialect it is: where a call of that dialect goes when nothing else is said. */
export function ownEngine(dialect: string): Engine | undefined {
  return engines.find(({ dialects, endpoint }) => endpoint !== undefined && dialects.includes(dialect));
}

/** `engine` or `engine:dialect`, where an engine speaks several and one is forced. */
export interface EngineChoice {
  readonly engine: Engine;
  readonly dialect?: string;
}

export function chooseEngine(name: string): EngineChoice | undefined {
  const [id = '', dialect] = name.split(':');
  const engine = findEngine(id);
  if (engine === undefined || (dialect !== undefined && !engine.dialects.includes(dialect))) return undefined;
  return { engine, ...(dialect === undefined ? {} : { dialect }) };
}

/** The engine whose vendor makes a model of this bare name, as far as names tell: by its first word, or by what is known of single models. */
export function engineOfModel(name: string): Engine | undefined {
  const [family = ''] = name.split('-');
  return findEngine(family) ?? engines.find(({ models }) => models.some(({ match }) => match !== '*' && globMatch(match, name)));
}
