import type { Clock } from '../../../base/clock.ts';
import type { EventOf } from '../../../contract/runs/event.ts';
import { AgentMuxError } from '../../../contract/runs/run-error.ts';
import type { PendingInteraction } from '../../../contract/runs/run-result.ts';
import type { InteractionAnswer, Interactions } from '../handle.ts';

/** Carries an answer to the agent; throws when the agent cannot take it. */
type Deliver = (interaction: PendingInteraction, answer: InteractionAnswer) => void;

/** The questions of one run that wait for an answer. */
export class PendingInteractions implements Interactions {
  readonly #deliver: Deliver;
  readonly #clock: Clock;
  readonly #open = new Map<string, PendingInteraction>();
  /** Questions that have their answer: a caller may hear of one only after something else has settled it. */
  readonly #settled = new Set<string>();
  readonly #listeners = new Set<(interaction: PendingInteraction) => void>();

  constructor(clock: Clock, deliver: Deliver) {
    this.#clock = clock;
    this.#deliver = deliver;
  }

  get pending(): readonly PendingInteraction[] {
    return [...this.#open.values()];
  }

  ask(event: EventOf<'approval_request'> | EventOf<'input_required'>): PendingInteraction {
    const words =
      event.type === 'approval_request'
        ? { type: 'approval' as const, description: event.action, detail: event.detail }
        : { type: 'input' as const, description: event.question, detail: event.context ?? '' };
    const interaction = { id: event.interactionId, runId: event.runId, createdAt: this.#clock.now(), ...words };
    this.#open.set(interaction.id, interaction);
    this.#settled.delete(interaction.id);
    for (const listener of this.#listeners) listener(interaction);
    return interaction;
  }

  /** Whether the question is still open: somebody else may have answered it. */
  has(id: string): boolean {
    return this.#open.has(id);
  }

  onPending(listener: (interaction: PendingInteraction) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  respond(id: string, answer: InteractionAnswer): void {
    const interaction = this.#open.get(id);
    if (interaction === undefined) throw new AgentMuxError('INTERACTION_NOT_FOUND', `The run has no open question ${id}.`, { id });
    // Closed before it is delivered: what the delivery says about it must not find it open.
    this.#open.delete(id);
    try {
      this.#deliver(interaction, answer);
      this.settle(id);
    } catch (error) {
      this.#open.set(id, interaction);
      throw error;
    }
  }

  /** The answer is known without asking. */
  settle(id: string): void {
    this.#settled.add(id);
  }

  /** The agent no longer waits for this answer; whether it did. */
  withdraw(id: string): boolean {
    if (!this.#open.delete(id)) return false;
    this.settle(id);
    return true;
  }

  /** Answers the named question, else the oldest one; whether it was open. One that is settled already is no fault of the caller. */
  respondOldest(id: string | undefined, answer: InteractionAnswer): boolean {
    const [oldest] = this.#open.keys();
    const chosen = id ?? oldest;
    if (chosen === undefined) throw new AgentMuxError('NO_PENDING_INTERACTION', 'The agent is not waiting for an answer.');
    if (this.#settled.has(chosen)) return false;
    this.respond(chosen, answer);
    return true;
  }

  approveAll(): void {
    for (const { id, type } of this.pending) if (type === 'approval') this.respond(id, { approve: true });
  }

  denyAll(reason?: string): void {
    for (const { id, type } of this.pending)
      if (type === 'approval') this.respond(id, { approve: false, ...(reason === undefined ? {} : { reason }) });
  }

  /** The run is over; nobody waits any more. */
  clear(): void {
    this.#open.clear();
  }
}
