import type { Command, EventDraft } from '../../../adapters/adapter.ts';
import { sha256 } from '../../../base/canonical-json.ts';

/** Ids that stand in an address as they are; an agent may choose others. */
const SAFE = /^[A-Za-z0-9_-]{1,128}$/;

/** The ids of one agent's questions: its own, and those that callers see and answer to, which are safe in the path of an address. */
export class InteractionIds {
  readonly #own = new Map<string, string>();

  shown(drafts: readonly EventDraft[]): readonly EventDraft[] {
    return drafts.map((draft) => ('interactionId' in draft ? { ...draft, interactionId: this.#shownId(draft.interactionId) } : draft));
  }

  /** The command with the id that the agent knows. */
  own(command: Command): Command {
    return 'interactionId' in command
      ? { ...command, interactionId: this.#own.get(command.interactionId) ?? command.interactionId }
      : command;
  }

  #shownId(own: string): string {
    if (SAFE.test(own)) return own;
    const shown = `q_${sha256(own).slice(0, 24)}`;
    this.#own.set(shown, own);
    return shown;
  }
}
