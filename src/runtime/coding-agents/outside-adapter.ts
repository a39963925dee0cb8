import type { Adapter } from '../../adapters/adapter.ts';
import { frozen, type RegisteredAdapter } from '../../adapters/define.ts';
import { ValidationError } from '../../contract/runs/run-error.ts';
import { findDialect } from '../../dialects/index.ts';

/** Names are words of addresses, of keys and of commands. */
const NAME = /^[a-z][a-z0-9-]{0,49}$/;
const FUNCTIONS = ['spawn', 'dialogue'] as const;
const OBJECTS = ['capabilities', 'summary', 'detect', 'auth', 'traffic', 'sessions'] as const;

/** The adapter of somebody else's code as one of ours, its data frozen. Throws VALIDATION_ERROR where something is missing or taken. */
export function outsideAdapter(adapter: Adapter, taken: readonly string[]): RegisteredAdapter {
  const faults = [...nameFaults(adapter, taken), ...shapeFaults(adapter)];
  if (faults.length > 0) throw new ValidationError(faults.map(([field, message]) => ({ field, message })));
  const { spawn, dialogue, waitsFor, ...data } = adapter;
  // A function may need its object, which an adapter that is a class has.
  const driving = {
    spawn: spawn.bind(adapter),
    dialogue: dialogue.bind(adapter),
    ...(waitsFor !== undefined && { waitsFor: waitsFor.bind(adapter) }),
  };
  return Object.freeze({ id: adapter.agent, ...frozen({ ...data }), ...driving });
}

type Fault = readonly [field: string, message: string];

function nameFaults({ agent, capabilities, models }: Adapter, taken: readonly string[]): Fault[] {
  if (typeof agent !== 'string' || !NAME.test(agent))
    return [['agent', 'must be a-z, 0-9 and -, beginning with a letter, up to 50 characters']];
  const others = (models ?? []).filter((model) => model.agent !== agent);
  return [
    ...(taken.includes(agent) ? ([['agent', `${agent} is there already`]] as const) : []),
    ...(capabilities?.agent === agent ? [] : ([['capabilities.agent', `must be ${agent}`]] as const)),
    ...(others.length === 0 ? [] : ([['models', `must be those of ${agent}`]] as const)),
  ];
}

/** Code without types may leave out anything. */
function shapeFaults(adapter: Adapter): Fault[] {
  const dialects = [adapter.traffic?.dialect, ...(adapter.traffic?.dialects ?? [])];
  const strange = dialects.filter((dialect) => typeof dialect !== 'string' || findDialect(dialect) === undefined);
  return [
    ...FUNCTIONS.filter((name) => typeof adapter[name] !== 'function').map((name): Fault => [name, 'must be a function']),
    ...OBJECTS.filter((name) => typeof adapter[name] !== 'object' || adapter[name] === null).map(
      (name): Fault => [name, 'must be an object'],
    ),
    ...(Array.isArray(adapter.models) ? [] : ([['models', 'must be a list']] as const)),
    ...(typeof adapter.cliCommand === 'string' && adapter.cliCommand !== ''
      ? []
      : ([['cliCommand', 'must be the name of a program']] as const)),
    ...(strange.length === 0 ? [] : ([['traffic', `has no dialect of ours: ${strange.join(', ')}`]] as const)),
  ];
}
