import { isHarmless } from '../contract/fate-codes.ts';
import type { FidelityEntry } from '../contract/negotiation.ts';
import type { TrafficRow } from '../contract/runs/run-traffic.ts';
import type { Dialect, FateNote, LowerContext } from '../dialects/dialect.ts';
import { type Concept, conceptRow } from '../ir/concept.ts';
import type { IrRequest, IrTool } from '../ir/request.ts';
import { covers } from './fidelity.ts';

/**
 * Settings that some models do not have, and without which a model does what it always does: how a request goes without each. A table
 * may say that an agent sets them by habit; nothing else that has a meaning is ever taken out.
 */
const HABITS: Readonly<Partial<Record<Concept, (request: IrRequest) => IrRequest>>> = {
  temperature: ({ sampling: { temperature: _gone, ...sampling }, ...rest }) => ({ ...rest, sampling }),
  top_p: ({ sampling: { topP: _gone, ...sampling }, ...rest }) => ({ ...rest, sampling }),
  top_k: ({ sampling: { topK: _gone, ...sampling }, ...rest }) => ({ ...rest, sampling }),
  effort: ({ effort: _gone, ...rest }) => rest,
  hosted_limit: ({ tools, ...rest }) => ({ ...rest, tools: tools.map(withoutCount) }),
};

/** How often a hosted tool may be used; domains and places that a caller set stay. */
function withoutCount(tool: IrTool): IrTool {
  if (tool.kind !== 'hosted' || tool.limits?.maxUses === undefined) return tool;
  const { maxUses: _gone, ...limits } = tool.limits;
  return { ...tool, limits };
}

export interface HabitInput {
  readonly request: IrRequest;
  readonly claims: ReadonlyMap<string, Concept>;
  readonly target: Dialect;
  readonly lower: LowerContext;
  readonly rows: readonly TrafficRow[];
}

/** The request without what its agent sets by habit and the model has no form for. What a caller sets of its own will is not in the table, and refused. */
export function withoutHabits(input: HabitInput): { readonly request: IrRequest; readonly notes: readonly FateNote[] } {
  let { request } = input;
  const notes: FateNote[] = [];
  for (const [name, without] of Object.entries(HABITS)) {
    const concept = name as Concept; // a key of the table above
    const tooMany = isOneTooMany(request, input.lower, concept);
    if (!isDroppedHabit(input, concept, tooMany)) continue;
    request = without(request);
    const note = tooMany
      ? 'the model takes a temperature or a top_p, not both'
      : `the model has no ${conceptRow(concept).title.toLowerCase()}`;
    notes.push({ concept, fate: 'dropped', code: tooMany ? 'one_of_two' : 'habit', note });
  }
  return { request, notes };
}

function isDroppedHabit({ claims, target, lower, rows }: HabitInput, concept: Concept, tooMany: boolean): boolean {
  if (rows.length === 0 || (target.names[concept] !== undefined && !lower.lacks.has(concept) && !tooMany)) return false;
  return [...claims].some(([path, claimed]) => claimed === concept && fateOf(rowFor(rows, path), target.id) === 'dropped');
}

/** Whether a model that takes one of two settings got the other one already. Either is no setting when it is 1. */
function isOneTooMany({ sampling }: IrRequest, lower: LowerContext, concept: Concept): boolean {
  const [temperature, topP] = [sampling.temperature ?? 1, sampling.topP ?? 1];
  return concept === 'top_p' && lower.traits.has('temperature-or-top-p') && temperature !== 1 && topP !== 1;
}

/** The account with the words of the agent's table beside every loss that the table foresees. */
export function withReasons(entries: readonly FidelityEntry[], rows: readonly TrafficRow[], target: Dialect): readonly FidelityEntry[] {
  if (rows.length === 0) return entries;
  return entries.map((entry) => {
    if ((entry.fate !== 'emulated' && entry.fate !== 'dropped') || isHarmless(entry.code)) return entry;
    const row = rowFor(rows, entry.path);
    if (row === undefined || fateOf(row, target.id) !== entry.fate) return entry;
    const words = `${row.feature}: ${row.reason}`;
    return { ...entry, note: entry.note === undefined ? words : `${entry.note} (${words})` };
  });
}

/** The row of the nearest thing at or above the path. */
function rowFor(rows: readonly TrafficRow[], path: string): TrafficRow | undefined {
  const shape = path.replaceAll(/\[\d+\]/g, '[*]');
  return rows
    .filter((row) => covers(row.path, shape))
    .reduce<TrafficRow | undefined>((best, row) => (best === undefined || row.path.length > best.path.length ? row : best), undefined);
}

function fateOf(row: TrafficRow | undefined, dialect: string): TrafficRow['fate'] | undefined {
  return row?.on?.[dialect] ?? row?.fate;
}
