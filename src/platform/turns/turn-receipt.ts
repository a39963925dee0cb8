import { sha256 } from '../../base/canonical-json.ts';
import { isoTime } from '../../base/clock.ts';
import { openingOf } from '../../calls/opening.ts';
import { AbpError } from '../../contract/errors.ts';
import type { ReceiptUsage, ToolCallRecord } from '../../contract/receipts/parts.ts';
import type { PendingReceipt } from '../../contract/receipts/receipt.ts';
import { type RunId, runUuid } from '../../contract/run-id.ts';
import type { IrPart } from '../../ir/part.ts';
import type { MadeCall, Spent, TurnState } from '../../loop/state.ts';
import type { Route } from '../../mapping/route.ts';
import type { CloseFact, Digest, OpenFact } from '../../receipts/journal/facts.ts';
import { getSession } from '../../store/agent-plane/sessions.ts';
import { getTurn } from '../../store/agent-plane/turns.ts';
import type { Store } from '../../store/store.ts';
import { agentModel } from '../agents/agent-model.ts';
import { runOfTurn, turnOfRun } from '../ids.ts';
import type { SessionParts } from '../parts.ts';
import { contentOf } from '../sessions/content.ts';
import type { TurnGrant } from './checkpoint.ts';

/** The facts at the beginning of a turn, for its receipt; the same from every worker on the turn. */
export interface TurnOpening {
  readonly turnId: string;
  readonly startedAt: number;
  readonly sessionId: string;
  readonly keyId: string | null;
  readonly agent: { readonly id: string; readonly name: string };
  /** As the session or the agent names it. */
  readonly modelName: string | null;
  readonly request: Digest | null;
  readonly grant: Pick<TurnGrant, 'recording' | 'tags'>;
}

/** The facts at the end of a turn, for its receipt. */
export interface TurnEnd {
  readonly turnId: string;
  readonly startedAt: number;
  readonly at: number;
  readonly status: CloseFact['status'];
  readonly state: Pick<TurnState, 'spent' | 'made' | 'failure'>;
  /** Events of the session from the message that began the turn to the last one of its end. */
  readonly events: number;
}

/** The message that begins a turn, by digest: of its content as the API shows it. */
export function messageDigest(parts: readonly IrPart[]): Digest {
  const text = JSON.stringify(contentOf(parts));
  return { sha256: sha256(text), bytes: Buffer.byteLength(text) };
}

/** Begins with these words in the receipts of turns, and of nothing else. */
export const TURN_BACKEND = 'agent:';

/**
 * That a turn has begun. Every owner says so before its first step, and a caller who ends a turn from outside before that, so that no turn
 * ends without this fact in the journal of the process that ended it. Said twice it says the same.
 */
export function turnOpened({ routes }: Pick<SessionParts, 'routes'>, opening: TurnOpening): OpenFact {
  const { turnId, agent, sessionId, modelName, grant } = opening;
  const choice = chosen(modelName, routes);
  const owner = { keyId: opening.keyId, parent: null, tags: turnTags(grant, { agentId: agent.id, sessionId, turnId }) };
  const [engine, model] = [choice?.engine.id ?? null, choice?.model ?? null];
  const call = { way: 'turn', owner, engine, model, dialect: null, mode: null } as const;
  const facts = openingOf(call, {
    task: `turn of ${agent.name === '' ? agent.id : agent.name}${choice === undefined ? '' : ` → ${choice.engine.id}`}`,
    backend: `${TURN_BACKEND}${agent.id}`,
    requestedModel: modelName,
    compatibility: 'best_effort',
    request: opening.request,
    // A turn has no bytes of its own, only those of its calls.
    recording: grant.recording === 'off' ? 'off' : 'digest',
  });
  return { ...facts, fact: 'open', run: runOf(turnId), at: opening.startedAt };
}

/** Labels of everything that a turn leaves receipts of. */
export function turnTags({ tags = [] }: Pick<TurnGrant, 'tags'>, of: { agentId: string; sessionId: string; turnId: string }): string[] {
  return [...tags, `agent:${of.agentId}`, `session:${of.sessionId}`, `turn:${of.turnId}`];
}

/** That a turn has ended. Written after the transaction that ends it: a turn that could not be ended has no such fact. */
export function turnClosed({ turnId, startedAt, at, status, state, events }: TurnEnd): CloseFact {
  const { spent, made, failure } = state;
  return {
    fact: 'close',
    run: runOf(turnId),
    at,
    status,
    reason: status === 'failed' ? (failure?.code ?? null) : null,
    error: status === 'failed' ? failure : null,
    response: null,
    upstreamModel: null,
    eventCount: events,
    usage: usageOf(spent),
    toolCalls: made.map(toolCallOf),
    attempts: [],
    dispatchedMs: null,
    firstByteMs: null,
    lastByteMs: Math.max(0, at - startedAt),
    cost: spent.priceVersion === null ? null : { nano_usd: spent.costNanoUsd, price_version: spent.priceVersion },
    prices: null,
    replayable: false,
  };
}

/** The turn of a run that has no receipt yet, and whose it is. */
export async function findTurnRun(store: Store, run: RunId): Promise<{ keyId: string | null; pending: PendingReceipt } | undefined> {
  const turn = await getTurn(store, turnOfRun(run));
  const session = turn === undefined ? undefined : await getSession(store, turn.sessionId);
  if (turn === undefined || session === undefined) return undefined;
  const pending: PendingReceipt = {
    id: runUuid(run),
    run_id: run,
    status: turn.status === 'queued' ? 'pending' : 'running',
    started_at: isoTime(turn.createdAt),
  };
  return { keyId: session.keyId, pending };
}

function runOf(turnId: string): RunId {
  const run = runOfTurn(turnId);
  if (run === null) throw new AbpError('internal', `${turnId} is not the id of a turn`);
  return run;
}

/** A name that has lost its meaning ends the turn; its receipt then names no engine. */
function chosen(name: string | null, routes: SessionParts['routes']): Route | undefined {
  try {
    return agentModel(name, routes);
  } catch (error) {
    if (!AbpError.is(error)) throw error;
    return undefined;
  }
}

function usageOf(spent: Spent): ReceiptUsage | null {
  if (spent.inputTokens + spent.outputTokens === 0) return null;
  return {
    input_tokens: spent.inputTokens,
    output_tokens: spent.outputTokens,
    cache_read_tokens: spent.cacheReadTokens,
    cache_write_tokens: spent.cacheWriteTokens,
    thinking_tokens: spent.thinkingTokens,
    web_search_requests: spent.webSearchRequests,
    estimated: spent.estimated ?? false,
  };
}

function toolCallOf({ id, name, argumentsSha256, resultSha256 }: MadeCall): ToolCallRecord {
  return { id, name, arguments_sha256: argumentsSha256, result_sha256: resultSha256 };
}
