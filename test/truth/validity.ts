import type { Json } from '../../src/base/json.ts';
import type { ErrorCode } from '../../src/contract/errors.ts';
import { Ledger } from '../../src/ir/ledger.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { type MappingTarget, mapTo, OPTED_IN } from '../support/mapping.ts';
import type { Checks } from './descriptions.ts';
import type { SampleRequest } from './sources.ts';
import type { Tally } from './tally.ts';

const REFUSALS: readonly ErrorCode[] = ['E001', 'E002', 'E003'];

/** Translates a request with and without opting in to approximations: what comes out is the engine's own request, or a typed refusal. */
export function tryValidity(sample: SampleRequest, target: MappingTarget, checks: Checks, tally: Tally): void {
  for (const emulate of [[], OPTED_IN]) {
    const mapping = mapTo(target, sample.from, sample.body, { emulate, address: sample.address });
    tally.tried += 1;
    const [problem] = problems(target, mapping, checks);
    if (problem !== undefined) tally.wrong.push({ sample: sample.id, where: target.name, what: problem });
  }
}

/** A refusal must be typed and name a place, a request must be one of the target's own. */
function problems(target: MappingTarget, { error, fidelity, upstream, asked }: Mapping, checks: Checks): string[] {
  if (error !== undefined) {
    const place = error.details.path ?? fidelity.find(({ fate }) => fate === 'refused')?.path;
    return [
      ...(REFUSALS.includes(error.code) ? [] : [`${error.code}: ${error.message}`]),
      ...(typeof place === 'string' ? [] : [`${error.code} names no place: ${error.message}`]),
    ];
  }
  // As the engine reads it.
  const body = JSON.parse(JSON.stringify(upstream?.body)) as Json; // what was just written
  const again = target.dialect.liftRequest(body, { ledger: new Ledger(), model: target.model, stream: asked?.stream ?? false });
  const lost = again.messages.length > 0 ? [] : ['nothing of the conversation arrived'];
  return [...lost, ...(checks.get(target.dialect.id)?.(body) ?? [])];
}
