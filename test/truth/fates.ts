import { isJsonObject, type Json } from '../../src/base/json.ts';
import type { Fate, FidelityEntry } from '../../src/contract/negotiation.ts';
import { join } from '../../src/ir/ledger.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { type MappingTarget, mapTo, OPTED_IN } from '../support/mapping.ts';
import type { SampleRequest } from './sources.ts';
import type { Tally } from './tally.ts';

interface Leaf {
  readonly steps: readonly (string | number)[];
  readonly path: string;
  readonly value: Json;
}

/** Everything in a body that has a value of its own and can be changed a little. */
function leavesOf(value: Json, steps: readonly (string | number)[] = [], path = ''): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((item: Json, at) => leavesOf(item, [...steps, at], join(path, at)));
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, item]) => leavesOf(item, [...steps, key], join(path, key)));
  return value === null ? [] : [{ steps, path, value }];
}

function changed(value: Json): Json {
  // The end of a base64 text may not count.
  if (typeof value === 'string') return /^[A-Za-z0-9+/]{8,}={0,2}$/.test(value) ? `QUJD${value}` : `${value}x`;
  if (typeof value === 'number') return value + 1;
  return typeof value === 'boolean' ? !value : 1;
}

function withLeaf(value: Json, [step, ...rest]: readonly (string | number)[], leaf: Json): Json {
  if (step === undefined) return leaf;
  if (Array.isArray(value)) return value.map((item: Json, at) => (at === step ? withLeaf(item, rest, leaf) : item));
  return isJsonObject(value) ? { ...value, [step]: withLeaf(value[step] ?? null, rest, leaf) } : value;
}

/** What the public record says of a leaf: the line of its own, else the line of its shape. */
function fateOf(entries: ReadonlyMap<string, FidelityEntry>, path: string): Fate | undefined {
  return (entries.get(path) ?? entries.get(path.replaceAll(/\[\d+\]/g, '[*]')))?.fate;
}

function sentBy({ upstream }: Mapping): string | undefined {
  return upstream === undefined ? undefined : JSON.stringify([upstream.path, upstream.headers, upstream.body]);
}

/** Changes each leaf of a request in turn and compares what the engine would get with what the record says of the leaf. */
export function tryFates(sample: SampleRequest, target: MappingTarget, tally: Tally, picked: (at: number) => boolean = () => true): void {
  const mapped = (body: Json): Mapping => mapTo(target, sample.from, body, { emulate: OPTED_IN, address: sample.address });
  const first = mapped(sample.body);
  const sent = sentBy(first);
  if (sent === undefined) return;
  const entries = new Map(first.fidelity.map((entry) => [entry.path, entry]));
  for (const [at, leaf] of leavesOf(sample.body).entries()) {
    const fate = fateOf(entries, leaf.path);
    // Which model the engine gets is decided by the route, not here.
    if (fate === 'emulated' || leaf.path === 'model' || !picked(at)) continue;
    const again = mapped(withLeaf(sample.body, leaf.steps, changed(leaf.value)));
    if (fate === 'dropped' && again.error !== undefined) continue;
    tally.tried += 1;
    const moved = sentBy(again) !== sent;
    // A value that means more than the first may have another fate, which its own record then tells.
    if (!moved && fateOf(new Map(again.fidelity.map((entry) => [entry.path, entry])), leaf.path) === 'emulated') continue;
    if (fate === undefined || moved !== (fate !== 'dropped'))
      tally.wrong.push({ sample: sample.id, where: target.name, what: `${leaf.path} is not ${fate ?? 'refused'}` });
  }
}
