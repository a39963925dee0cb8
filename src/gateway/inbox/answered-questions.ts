import { isoTime } from '../../base/clock.ts';
import type { Interaction } from '../api/interactions.ts';
import type { Principal } from '../auth/principal.ts';

const MOST = 500;

function nameOf(principal: Principal): { by: string; via: string } {
  if (principal.kind === 'key') return { by: principal.key.name, via: 'key' };
  return principal.kind === 'paired'
    ? { by: principal.user?.id ?? 'a paired browser', via: 'phone' }
    : { by: 'the holder of the token', via: principal.kind };
}

/** Who answers and by which channel, in one line of a receipt. */
export function answererOf(principal: Principal): string {
  const { by, via } = nameOf(principal);
  return `${by} (${via})`;
}

/** Answers since this process began. Those to a run are also among its events, for ever. */
export class AnsweredQuestions {
  readonly #items: Interaction[] = [];
  readonly #listeners = new Set<() => void>();

  add(
    question: Interaction,
    principal: Principal,
    answer: { readonly approved: boolean | null; readonly reason?: string | undefined },
  ): void {
    const decision = answer.approved === null ? 'answered' : answer.approved ? 'approved' : 'denied';
    const answered = { ...nameOf(principal), at: isoTime(Date.now()), decision, reason: answer.reason ?? null } as const;
    this.#items.unshift({ ...question, answered });
    if (this.#items.length > MOST) this.#items.pop();
    for (const listener of this.#listeners) listener();
  }

  get items(): readonly Interaction[] {
    return this.#items;
  }

  listen(onAnswer: () => void): () => void {
    this.#listeners.add(onAnswer);
    return () => this.#listeners.delete(onAnswer);
  }
}
