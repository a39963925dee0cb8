import type { Observed } from '../../dialects/dialect.ts';
import type { Engine } from '../../engines/engine.ts';

/** Remembers what was counted of results that vendors tell as often as they are asked. */
export interface CountedResults {
  /** How many rows of a result are counted; undefined where nobody can say. */
  rows(name: string): Promise<number | undefined>;
  /** Whether these rows are to be counted now: nobody has done so, and from now on it is known. */
  claim(once: NonNullable<Observed['once']>): Promise<boolean>;
}

/** The memory as calls to one engine use it: every vendor has names of its own. */
export function claimFor(counted: CountedResults, { id }: Engine): CountedResults['claim'] {
  return (once) => counted.claim({ ...once, name: `${id} ${once.name}` });
}

/** What was seen of an answer whose use another call has counted, or will count. */
export function uncounted({ usage: _counted, finish: _whole, once: _known, ...seen }: Observed): Observed {
  return seen;
}
