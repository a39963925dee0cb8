import { nearName } from '../contract/near-name.ts';
import { engines, findEngine } from '../engines/index.ts';

/**
 * Says that nothing was found and by which words it was looked for: a name that nothing has would otherwise look like an answer.
 * `chosen` are options by their names.
 */
export function nothingText(what: string, chosen: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(chosen).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  if (given.length === 0) return `${what}.`;
  return `${what} with ${given.map(([name, value]) => `--${name} ${value}`).join(' ')}.${engineAdvice(chosen.engine)}`;
}

/** An engine of somebody's own has a name that only the server knows. */
function engineAdvice(engine: unknown): string {
  if (typeof engine !== 'string' || findEngine(engine) !== undefined) return '';
  const near = nearName(
    engine,
    engines.map(({ id }) => id),
  );
  return near === undefined ? ' abp capabilities shows the engines.' : ` Did you mean ${near}?`;
}
