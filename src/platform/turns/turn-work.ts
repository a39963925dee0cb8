import type { JsonObject } from '../../base/json.ts';
import { permission } from '../../calls/permission.ts';
import { AbpError } from '../../contract/errors.ts';
import type { TurnFrame } from '../../loop/machine.ts';
import type { LoopSignal } from '../../loop/signal.ts';
import type { Route } from '../../mapping/route.ts';
import { listEvents, type StoredEvent } from '../../store/agent-plane/session-events.ts';
import { getSession } from '../../store/agent-plane/sessions.ts';
import type { StoredTurn } from '../../store/agent-plane/turns.ts';
import { agentRoutes } from '../agents/agent-model.ts';
import { newId } from '../ids.ts';
import type { SessionParts } from '../parts.ts';
import { sessionSettings } from '../sessions/session-settings.ts';
import { Transcript } from '../sessions/transcript.ts';
import { type Checkpoint, checkpointOf, grantedScopes, type TurnGrant } from './checkpoint.ts';
import type { ModelSide } from './model-side.ts';
import type { TurnAgent } from './turn-agent.ts';

const MAX_ITERATIONS = 50;
/** As often may a turn be taken over without getting anywhere; then its workers are not to blame. */
const MOST_STALLS = 5;

/** A claimed turn and everything its steps need. */
export interface TurnWork {
  readonly turnId: string;
  readonly sessionId: string;
  readonly startedAt: number;
  readonly keyId: string | null;
  readonly epoch: number;
  readonly checkpoint: Checkpoint;
  /** Of the last event before the turn. */
  readonly before: number;
  /** Of the last event that the checkpoint and `transcript` have taken in. */
  readonly sequence: number;
  readonly agent: TurnAgent;
  /** As the session or the agent names its model. */
  readonly modelName: string | null;
  /** Absent where the turn cannot go on and only ends. */
  readonly model?: ModelSide;
  readonly frame: TurnFrame;
  readonly transcript: Transcript;
  /** Events from outside since the checkpoint, and how to begin. */
  readonly signals: readonly LoopSignal[];
}

/** A turn that this process has just begun itself. */
export interface BegunTurn {
  readonly turnId: string;
  readonly sessionId: string;
  readonly startedAt: number;
  readonly checkpoint: Checkpoint;
  readonly sequence: number;
  readonly agentId: string;
  readonly agentRevision: number;
  readonly keyId: string | null;
  readonly document: JsonObject;
  readonly costNanoUsd: number;
  /** The events it began with. */
  readonly opening: readonly StoredEvent[];
}

/** The work on a turn that was begun here and now. */
export async function begunWork(parts: SessionParts, turn: BegunTurn): Promise<TurnWork> {
  const transcript = await transcriptWith(parts, turn.sessionId, turn.opening);
  const before = turn.sequence - turn.checkpoint.events;
  return await workOf(parts, { ...turn, before, transcript, epoch: 1, signals: [{ kind: 'taken-over' }] });
}

/** The conversation with the new events: the one kept in memory where it is complete, else read from the database. */
async function transcriptWith({ transcripts }: SessionParts, sessionId: string, events: readonly StoredEvent[]): Promise<Transcript> {
  const before = (events[0]?.sequence ?? 1) - 1;
  const known = before === 0 ? new Transcript() : transcripts.takeAt(sessionId, before);
  if (known === undefined) return await transcripts.take(sessionId, before + events.length);
  for (const event of events) known.apply(event);
  return known;
}

/** The work on a turn that was claimed: its state and everything that has happened since. Undefined when the session is gone. */
export async function claimedWork(parts: SessionParts, turn: StoredTurn): Promise<TurnWork | undefined> {
  const { store, transcripts } = parts;
  const { sessionId } = turn;
  const [session, since] = await Promise.all([getSession(store, sessionId), listEvents(store, { sessionId, after: turn.sequence })]);
  if (session === undefined) return undefined;
  const checkpoint = checkpointOf(turn.checkpoint);
  const { state } = checkpoint;
  const sequence = since.at(-1)?.sequence ?? turn.sequence;
  const stuck = turn.epoch - state.epoch > MOST_STALLS;
  return await workOf(parts, {
    turnId: turn.id,
    ...{ sessionId, startedAt: turn.createdAt, epoch: turn.epoch, checkpoint, sequence },
    before: turn.sequence - checkpoint.events,
    agentId: session.agentId,
    keyId: session.keyId,
    document: session.document,
    costNanoUsd: session.costNanoUsd - state.spent.costNanoUsd,
    transcript: await transcripts.take(sessionId, sequence),
    signals: stuck ? [{ kind: 'given-up', failure: STUCK }] : resuming(since),
  });
}

const STUCK = { code: 'no_progress', message: 'The turn was taken over several times and got nowhere.', retryable: false };

interface Preparation extends Omit<BegunTurn, 'agentRevision' | 'opening'> {
  /** Of the last event before the turn. */
  readonly before: number;
  readonly transcript: Transcript;
  readonly agentRevision?: number;
  readonly epoch: number;
  readonly signals: readonly LoopSignal[];
}

async function workOf(parts: SessionParts, turn: Preparation): Promise<TurnWork> {
  const { turnId, sessionId, startedAt, epoch, checkpoint, before, sequence, transcript, signals, document, keyId } = turn;
  const { grant } = checkpoint;
  const settings = sessionSettings(document);
  const base = { turnId, sessionId, startedAt, keyId, epoch, checkpoint, before, sequence, transcript };
  const limits = {
    maxIterations: settings.maxIterations ?? MAX_ITERATIONS,
    maxSessionCost: settings.maxCostNanoUsd ?? undefined,
    costBefore: turn.costNanoUsd,
  };
  try {
    const agent = await parts.agents({ agentId: turn.agentId, host: grant.host, revision: turn.agentRevision });
    const modelName = settings.model ?? agent.model;
    const routes = agentRoutes(modelName, parts.routes);
    assertGranted(grant, routes[0]);
    return {
      ...base,
      agent,
      modelName,
      model: { routes, sessionId, keyId, grant },
      frame: {
        turnId,
        newId,
        limits: {
          ...limits,
          maxIterations: settings.maxIterations ?? agent.maxIterations ?? MAX_ITERATIONS,
          maxTurnCost: agent.maxCostNanoUsd ?? undefined,
        },
      },
      signals,
    };
  } catch (error) {
    const ending = signals.find(({ kind }) => kind === 'given-up') ?? endingBy(error);
    const agent = nobody(turn.agentId);
    return { ...base, agent, modelName: settings.model, frame: { turnId, newId, limits }, signals: [ending] };
  }
}

/** A fault of the agent ends its turn; a fault of ours may pass, and is thrown. */
function endingBy(error: unknown): LoopSignal {
  if (!AbpError.is(error) || error.code === 'internal') throw error;
  return { kind: 'given-up', failure: { code: error.code, message: error.message, retryable: false } };
}

/** Asked before the turn begins; each model call is asked again. */
function assertGranted(grant: TurnGrant, { engine, model }: Route): void {
  const refusal = permission({ way: 'turn', owner: { scopes: grantedScopes(grant) }, engine: engine.id, model });
  if (refusal !== undefined) throw refusal;
}

/** Stands in for an agent that cannot be put together; its turn only ends. */
function nobody(id: string): TurnAgent {
  return { id, name: '', model: null, systemPrompt: '', tools: [], maxIterations: null, maxCostNanoUsd: null };
}

/** The signal for the turn under way in an event that another process or a caller appended. */
export function signalOf({ type, data }: StoredEvent): LoopSignal[] {
  if (type === 'input.message') return [{ kind: 'message' }];
  if (type !== 'approval.answered') return [];
  const note = typeof data.note === 'string' ? data.note : undefined;
  return [{ kind: 'approval', approvalId: String(data.approval_id), approved: data.approved === true, note }];
}

/** Whether the event says that the turn was ended from outside. */
export function cancels({ type, turnId }: StoredEvent, ownTurn: string): boolean {
  return type === 'turn.cancelled' && turnId === ownTurn;
}

/**
 * The signals with which a claimed turn begins. A message is part of the request that is made again; an answer only counts once it is
 * known which calls are still open.
 */
function resuming(events: readonly StoredEvent[]): LoopSignal[] {
  const signals = events.flatMap(signalOf);
  const messages = signals.filter(({ kind }) => kind === 'message');
  return [...messages, { kind: 'taken-over' }, ...signals.filter(({ kind }) => kind !== 'message')];
}
