import type { JsonObject } from '../../../base/json.ts';
import type { IrEffort, IrRequest, IrThinking } from '../../../ir/request.ts';
import type { FateNote, LowerContext } from '../../dialect.ts';
import { knownEffort } from '../../openai-effort.ts';

/** Thinking budgets up to these sizes read as these efforts. */
const BUDGETS: readonly (readonly [upTo: number, effort: IrEffort])[] = [
  [4096, 'low'],
  [16_384, 'medium'],
];

/** The effort that comes nearest to a thinking setting; undefined leaves it to the model. */
export function effortOf(thinking: IrThinking): IrEffort | undefined {
  if (thinking.mode === 'disabled') return 'none';
  const { budgetTokens } = thinking;
  if (budgetTokens === undefined || thinking.mode !== 'enabled') return undefined;
  return BUDGETS.find(([upTo]) => budgetTokens <= upTo)?.[1] ?? 'high';
}

/** The settings of thinking that decide which effort comes nearest. */
export function measured({ mode, budgetTokens }: IrThinking): readonly Pick<FateNote, 'concept' | 'ofLeaf'>[] {
  const counts = mode === 'enabled' && budgetTokens !== undefined;
  return [{ concept: 'thinking' }, ...(counts ? [{ concept: 'thinking_budget', ofLeaf: true } as const] : [])];
}

/** Where a wire has one knob for both, the caller's effort turns it. */
export const LOST_TO_EFFORT: FateNote = {
  concept: 'thinking',
  fate: 'dropped',
  code: 'thinking_lost_to_effort',
  note: 'the effort beside it says how much the model reasons',
};

/** OpenAI's one knob for reasoning. Its text does not come back, so thinking is only ever approximated. */
export function lowerEffort(request: IrRequest, context: LowerContext, notes: FateNote[]): JsonObject {
  const { thinking, effort } = request;
  if (context.lacks.has('effort')) return withoutReasoning(request, notes);
  const wanted = effort ?? (thinking === undefined ? undefined : effortOf(thinking));
  const level = wanted === undefined ? undefined : knownEffort(wanted, context, notes);
  if (thinking !== undefined && effort !== undefined) notes.push(LOST_TO_EFFORT);
  else if (thinking !== undefined) {
    const note = `sent as ${level === undefined ? 'the model’s own default' : `reasoning_effort ${level}`}`;
    for (const said of measured(thinking)) notes.push({ ...said, fate: 'emulated', code: 'thinking_as_effort', note });
  }
  return level === undefined ? {} : { reasoning_effort: level };
}

function withoutReasoning({ thinking, effort }: IrRequest, notes: FateNote[]): JsonObject {
  if (effort === 'none') notes.push({ concept: 'effort', fate: 'renamed', code: 'does_not_reason', note: 'the model does not reason' });
  if (thinking?.mode === 'disabled')
    notes.push({ concept: 'thinking', fate: 'emulated', code: 'does_not_reason', note: 'the model does not reason' });
  return {};
}
