import type { EmulationEntry } from '../contract/negotiation.ts';
import type { FateNote } from '../dialects/dialect.ts';
import { conceptRow } from '../ir/concept.ts';
import type { IrRequest } from '../ir/request.ts';
import { covers } from './fidelity.ts';
import { OWN_FORM } from './preflight.ts';
import { hostedCapability } from './required.ts';

/**
 * The emulations for the receipt: those that the preflight labelled and every other one that the notes tell of, so that it names what the
 * fidelity record names.
 */
export function emulationsOf(labelled: readonly EmulationEntry[], notes: readonly FateNote[], asked: IrRequest): readonly EmulationEntry[] {
  const told = new Set(labelled.filter(({ strategy }) => !isOwnForm(strategy)).map(({ capability }) => capability));
  const found = new Map<string, EmulationEntry>();
  for (const note of notes) {
    const capability = note.fate === 'emulated' ? capabilityOf(note, asked) : undefined;
    if (capability === undefined || (told.has(capability) && LABELLED.has(note.code))) continue;
    found.set(`${capability} ${note.note}`, { capability, strategy: { type: 'post_processing', detail: note.note } });
  }
  const named = new Set([...found.values()].map(({ capability }) => capability));
  return [...labelled.filter(({ strategy, capability }) => !isOwnForm(strategy) || !named.has(capability)), ...found.values()];
}

/** Notes whose emulation the preflight labels itself. */
const LABELLED = new Set<FateNote['code']>(['forced_tool', 'cut_at_stop', 'schema_wrapped', 'thinking_as_prompt']);

function isOwnForm(strategy: EmulationEntry['strategy']): boolean {
  return strategy.type === 'post_processing' && strategy.detail === OWN_FORM;
}

/** The capability under which a receipt lists the subject of a note. */
export function capabilityOf(
  { concept, at }: Pick<FateNote, 'concept' | 'at'>,
  asked: IrRequest,
): EmulationEntry['capability'] | undefined {
  const tool =
    concept === 'hosted_tool' && at !== undefined ? asked.tools.find((one) => one.at !== undefined && covers(one.at, at)) : undefined;
  return (tool?.kind === 'hosted' ? hostedCapability(tool.hosted) : undefined) ?? conceptRow(concept).as;
}
