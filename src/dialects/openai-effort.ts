import type { IrEffort } from '../ir/request.ts';
import type { FateNote, LowerContext } from './dialect.ts';

/** The levels that every reasoning model of OpenAI has; the outer ones each have a trait. */
function fitEffort(effort: IrEffort, traits: ReadonlySet<string>): IrEffort {
  const least = traits.has('effort-minimal') ? 'minimal' : 'low';
  switch (effort) {
    case 'none':
      return traits.has('effort-none') ? 'none' : least;
    case 'minimal':
      return least;
    case 'xhigh':
    case 'max':
      return traits.has('effort-xhigh') ? 'xhigh' : 'high';
    default:
      return effort;
  }
}

/** The effort as the model takes it. Only of OpenAI's own reasoning models is it known which levels they answer with 400. */
export function knownEffort(effort: IrEffort, { traits }: LowerContext, notes: FateNote[]): IrEffort {
  const fit = traits.has('reasoning') ? fitEffort(effort, traits) : effort;
  if (fit !== effort)
    notes.push({
      concept: 'effort',
      fate: 'emulated',
      code: 'nearest_level',
      note: `${effort} was sent as ${fit}, the next level that the model has`,
    });
  return fit;
}
