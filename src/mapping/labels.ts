import type { EmulationEntry } from '../contract/negotiation.ts';
import type { FateNote } from '../dialects/dialect.ts';
import { conceptRow } from '../ir/concept.ts';
import type { IrRequest } from '../ir/request.ts';
import { covers } from './fidelity.ts';
import { OWN_FORM } from './preflight.ts';
import { hostedCapability } from './required.ts';

/**
 * The emulations for the receipt: every one that a note tells of, in the words of the fidelity record, and those of the preflight that none
 * tells of.
 */
export function emulationsOf(untold: readonly EmulationEntry[], notes: readonly FateNote[], asked: IrRequest): readonly EmulationEntry[] {
  const found = new Map<string, EmulationEntry>();
  for (const note of notes) {
    const capability = note.fate === 'emulated' && note.code !== 'thinking_as_prompt' ? capabilityOf(note, asked) : undefined;
    if (capability === undefined) continue;
    found.set(`${capability} ${note.note}`, { capability, strategy: { type: 'post_processing', detail: note.note } });
  }
  const named = new Set([...found.values()].map(({ capability }) => capability));
  return [...untold.filter(({ strategy, capability }) => !isOwnForm(strategy) || !named.has(capability)), ...found.values()];
}

function isOwnForm(strategy: EmulationEntry['strategy']): boolean {
  return strategy.type === 'post_processing' && strategy.detail === OWN_FORM;
}

/** The capability under which a receipt lists the subject of a note. */
export function capabilityOf(
  { concept, at }: Pick<FateNote, 'concept' | 'at'>,
  asked: IrRequest,
): EmulationEntry['capability'] | undefined {
  const tool = at === undefined ? undefined : asked.tools.find((one) => one.at !== undefined && covers(one.at, at));
  if (concept === 'media_type') return at === undefined ? undefined : conceptRow(mediumAt(at, asked) ?? 'image').as;
  if ((concept === 'property_order' || concept === 'structure') && tool !== undefined) return 'tool_use';
  return (concept === 'hosted_tool' && tool?.kind === 'hosted' ? hostedCapability(tool.hosted) : undefined) ?? conceptRow(concept).as;
}

/** The kind of the medium that a place of the caller's request belongs to, also inside a tool's result. */
function mediumAt(at: string, { messages }: IrRequest): 'image' | 'document' | 'audio' | 'video' | undefined {
  const parts = messages.flatMap((message) => message.parts.flatMap((part) => (part.kind === 'tool-result' ? part.parts : [part])));
  for (const { kind, at: place } of parts) {
    const isMedium = kind === 'image' || kind === 'document' || kind === 'audio' || kind === 'video';
    if (isMedium && place !== undefined && covers(place, at)) return kind;
  }
  return undefined;
}
