import { describe, expect, test } from 'vitest';
import { isCapability } from '../../src/contract/capability.ts';
import { isHarmless } from '../../src/contract/fate-codes.ts';
import type { FidelityEntry } from '../../src/contract/negotiation.ts';
import { dialects } from '../../src/dialects/index.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { mapTo } from '../support/mapping.ts';
import { hardCases } from './hard-cases.ts';
import { fixtureRequests, TARGETS } from './sources.ts';
import { linesOf, newTally } from './tally.ts';

const samples = [...fixtureRequests(), ...hardCases()];

function isLoss({ fate, code }: FidelityEntry): boolean {
  return (fate === 'emulated' || fate === 'dropped') && !isHarmless(code);
}

function losesNothing({ error, emulations, fidelity }: Mapping): boolean {
  return error === undefined && emulations.length === 0 && !fidelity.some(isLoss);
}

/** What strict says in one place and denies in another. */
function contradictions(strict: Mapping, usual: Mapping): string[] {
  const { error, negotiation } = strict;
  const unmet = negotiation?.unmet ?? [];
  if (error === undefined) {
    if (unmet.length > 0) return [`served, and ${unmet[0]?.capability} is unmet`];
    return losesNothing(strict) ? [] : ['served with a loss'];
  }
  if (error.code !== 'E006') return [`${error.code}: ${error.message}`];
  if (losesNothing(usual)) return [`refused though nothing is lost: ${error.message}`];
  const { capability, support_level: level } = error.details;
  if (typeof capability !== 'string' || !isCapability(capability)) return [];
  const told = unmet.find((one) => one.capability === capability);
  return (told?.level ?? 'unsupported') === level && told !== undefined
    ? []
    : [`the negotiation does not say that ${capability} is ${level}`];
}

describe.each(dialects.map(({ id }) => id))('a strict request of %s', (from) => {
  test('is E006 exactly where something would be lost, and error, negotiation and records agree', () => {
    const tally = newTally();
    for (const { id, body, address } of samples.filter((sample) => sample.from === from)) {
      for (const target of TARGETS.filter(({ dialect }) => dialect.id !== from)) {
        const [strict, usual] = (['strict', 'best_effort'] as const).map((compatibility) =>
          mapTo(target, from, body, { compatibility, address }),
        );
        tally.tried += 1;
        for (const what of contradictions(strict as Mapping, usual as Mapping)) tally.wrong.push({ sample: id, where: target.name, what }); // both are there
      }
    }
    expect(tally.tried).toBeGreaterThan(100);
    expect(linesOf(tally)).toEqual([]);
  });
});
