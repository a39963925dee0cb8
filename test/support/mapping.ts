import type { Json } from '../../src/base/json.ts';
import type { Capability } from '../../src/contract/capability.ts';
import type { TrafficRow } from '../../src/contract/runs/run-traffic.ts';
import type { Compatibility } from '../../src/contract/support.ts';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { findDialect } from '../../src/dialects/index.ts';
import type { Engine } from '../../src/engines/engine.ts';
import { chooseEngine } from '../../src/engines/index.ts';
import { type Mapping, type MappingInput, map } from '../../src/mapping/mapping.ts';

/** An engine, the dialect it is spoken to in, and a model of it. */
export interface MappingTarget {
  readonly name: string;
  readonly engine: Engine;
  readonly dialect: Dialect;
  readonly model: string;
}

/** A target by `engine` or `engine:dialect`. */
export function targetOf(name: string, model: string): MappingTarget {
  const choice = chooseEngine(name);
  const dialect = findDialect(choice?.dialect ?? choice?.engine.dialects[0] ?? '');
  if (choice === undefined || dialect === undefined) throw new Error(`there is no target ${name}`);
  return { name: `${name} ${model}`, engine: choice.engine, dialect, model };
}

export function dialectOf(id: string): Dialect {
  const dialect = findDialect(id);
  if (dialect === undefined) throw new Error(`there is no dialect ${id}`);
  return dialect;
}

/** The capabilities that a coding agent's run key lets be approximated. */
export const OPTED_IN: readonly Capability[] = ['extended_thinking'];

/** What a test may say about a mapping beyond the body. */
export interface MappingOptions {
  readonly compatibility?: Compatibility;
  readonly emulate?: readonly Capability[];
  readonly unknownLeaves?: 'refuse' | 'report';
  readonly traffic?: readonly TrafficRow[];
  /** What the address says, where the dialect puts it there. */
  readonly address?: MappingInput['address'];
  readonly operation?: MappingInput['operation'];
}

/** What becomes of a body of one dialect on a target; the defaults are those of an API caller. */
export function mapTo(target: MappingTarget, from: string, body: Json, options: MappingOptions = {}): Mapping {
  return map({
    body,
    source: dialectOf(from),
    address: options.address ?? { model: 'asked-model', stream: false },
    engine: target.engine,
    target: target.dialect,
    model: target.model,
    compatibility: options.compatibility ?? 'best_effort',
    emulate: new Set(options.emulate ?? []),
    requirements: { required: [] },
    unknownLeaves: options.unknownLeaves ?? 'refuse',
    traffic: options.traffic,
    ...(options.operation === undefined ? {} : { operation: options.operation }),
  });
}
