import { toldUsage } from '../../calls/answers/told-usage.ts';
import { callModel, type ModelOutcome } from '../../calls/model-call.ts';
import { pricesOf } from '../../engines/engine.ts';
import type { IrPart } from '../../ir/part.ts';
import type { AskedCall, CutAnswer, LoopSignal, ModelAnswer } from '../../loop/signal.ts';
import type { Route } from '../../mapping/route.ts';
import { billedUsage } from '../../models/billed.ts';
import { newId, runOfTurn } from '../ids.ts';
import type { SessionParts } from '../parts.ts';
import type { AnswerSoFar } from '../sessions/deltas.ts';
import type { Transcript } from '../sessions/transcript.ts';
import type { Tool } from '../tools/tool.ts';
import { grantedScopes, type TurnGrant } from './checkpoint.ts';
import { type TurnAgent, toolDeclarations } from './turn-agent.ts';
import { turnTags } from './turn-receipt.ts';

/** The model of a turn and on whose behalf it is called. */
export interface ModelSide {
  /** Where its calls may go in turn. */
  readonly routes: readonly [Route, ...Route[]];
  readonly sessionId: string;
  readonly keyId: string | null;
  readonly grant: TurnGrant;
}

export interface ModelTry {
  readonly agent: TurnAgent;
  readonly transcript: Transcript;
  readonly turnId: string;
  readonly messageId: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

const KEY_ENDED: LoopSignal = {
  kind: 'model-failed',
  failure: {
    code: 'unauthenticated',
    message: 'The key that this session was made with has ended, or may have no sessions any more.',
    retryable: false,
  },
};

/** Asks the model for the next message of the conversation; how that ended, as the turn machine hears it. */
export async function modelSignal(parts: SessionParts, side: ModelSide, one: ModelTry): Promise<LoopSignal> {
  const { agent, transcript, turnId, messageId, attempt, signal } = one;
  const { sessionId, routes, keyId } = side;
  if (keyId !== null && !(await parts.mayGoOn(keyId))) return KEY_ENDED;
  const readUpTo = transcript.sequence;
  const system =
    agent.systemPrompt === '' ? [] : [{ role: 'system' as const, parts: [{ kind: 'text' as const, text: agent.systemPrompt }] }];
  const outcome = await callModel(parts.calls, {
    routes,
    request: {
      messages: [...system, ...transcript.messages],
      tools: toolDeclarations(agent.tools),
      stop: [],
      sampling: {},
      vendor: {},
    },
    compatibility: 'best_effort',
    task: agent.name,
    owner: {
      keyId,
      scopes: grantedScopes(side.grant),
      parent: runOfTurn(turnId),
      tags: turnTags(side.grant, { agentId: agent.id, sessionId, turnId }),
    },
    conversation: sessionId,
    recording: side.grant.recording,
    signal,
    ...parts.deltas.begin({ sessionId, turnId, messageId, attempt }),
  });
  parts.deltas.end(sessionId);
  return await signalOf(outcome, agent.tools, readUpTo);
}

async function signalOf(outcome: ModelOutcome, tools: readonly Tool[], readUpTo: number): Promise<LoopSignal> {
  if (!outcome.ok) {
    const { error, retryable, retryAfterMs, partial, runId, route } = outcome;
    const failure = { code: error.code, message: error.message, retryable, retryAfterMs };
    return { kind: 'model-failed', failure, ...(partial !== undefined && { cut: await cutAnswer({ ...partial, runId, route }) }) };
  }
  const { response, runId, route, ms } = outcome;
  const { parts, calls } = askedCalls(response.parts, tools);
  const answer: ModelAnswer = {
    parts,
    calls,
    finish: response.finish,
    model: response.model === '' ? route.model : response.model,
    engine: route.engine.id,
    usage: response.usage,
    ...(await costOf(response.usage, route)),
    runId,
    ms: Math.round(ms),
    readUpTo,
  };
  return { kind: 'answered', answer };
}

/**
 * Every call gets an id of ours: engines that count their calls anew repeat theirs, and tools are told apart by it for ever. An
 * unknown tool is called too: the model hears from the result that there is none.
 */
function askedCalls(parts: readonly IrPart[], tools: readonly Tool[]): { parts: readonly IrPart[]; calls: AskedCall[] } {
  const calls: AskedCall[] = [];
  const kept = parts.map((part): IrPart => {
    if (part.kind !== 'tool-call') return part;
    const id = newId('call');
    const tool = tools.find(({ name }) => name === part.name);
    const { name, arguments: text } = part;
    calls.push({ id, name, arguments: text, effect: tool?.effect ?? 'idempotent', needsApproval: tool?.policy === 'requires_approval' });
    return { ...part, id };
  });
  return { parts: kept, calls };
}

/** An answer that was broken off, with its price. */
export async function cutAnswer({
  text,
  usage,
  runId,
  route,
}: Pick<AnswerSoFar, 'text' | 'usage' | 'runId' | 'route'>): Promise<CutAnswer> {
  return { text, usage, runId, engine: route.engine.id, model: route.model, ...(await costOf(usage, route)) };
}

const FREE = { costNanoUsd: 0, priceVersion: null } as const;

async function costOf(usage: ModelAnswer['usage'], { engine, model }: Route): Promise<Pick<ModelAnswer, 'costNanoUsd' | 'priceVersion'>> {
  const prices = pricesOf(engine, model);
  if (prices === undefined) return FREE;
  const { costOf: priceOf, priceVersionOf } = await import('../../models/cost.ts');
  const told = toldUsage(usage);
  const costNanoUsd = told === null ? undefined : priceOf(billedUsage(told), model, prices, new Date());
  return costNanoUsd === undefined ? FREE : { costNanoUsd, priceVersion: priceVersionOf(prices) };
}
