import { enginePath } from '../../dialects/paths.ts';
import { AnswerChanges } from '../../mapping/answer-changes.ts';
import type { Exchange, ExchangeRequest } from '../../upstream/exchange.ts';
import type { TakeOver } from '../../upstream/gate.ts';
import { upstreamAddress } from '../address.ts';
import type { Answer } from '../answers/answer.ts';
import { callMapped } from '../answers/mapped.ts';
import { PausedTurns, pauses } from '../answers/paused-turns.ts';
import { type RelayOptions, relay } from '../answers/relay.ts';
import type { ToolGateOptions } from '../answers/tool-gate.ts';
import type { CallContext } from '../context.ts';
import type { Deployment } from '../deployment.ts';
import { asidesOf, engineHeaders, upstreamHeaders, upstreamQuery, withoutHeader } from '../headers.ts';
import { claimFor } from '../meters/counted-results.ts';
import { estimatedUsage, tokensOfBytes } from '../meters/meter.ts';
import type { Recorder } from '../recorder.ts';
import type { Plan, VendorCall } from './vendor-call.ts';

/** Who hears of one try. */
export interface Listener {
  readonly answer: Answer;
  readonly recorder: Recorder;
  /** The engine has the request's body, or will never get it. */
  readonly onTaken: () => void;
  /** Asked at a failure before the first byte, where the route allows another try. */
  readonly takeOver: TakeOver | undefined;
}

/** Sends one try; undefined where no engine needs to be called. */
export function sendPlan(context: CallContext, call: VendorCall, plan: Plan, listener: Listener): Exchange | undefined {
  const sending: Sending = { context, deployment: plan.deployment, call, listener };
  return plan.kind === 'relay' ? relayed(sending, plan) : translated(sending, plan);
}

/** Servers that tell no usage of embeddings have read what they were sent. */
function countedBy(bytes: number): RelayOptions['complete'] {
  return async (seen) =>
    seen.usage !== undefined || seen.error !== undefined ? seen : { ...seen, usage: estimatedUsage(tokensOfBytes(bytes)) };
}

interface Sending {
  readonly context: CallContext;
  readonly deployment: Deployment;
  readonly call: VendorCall;
  readonly listener: Listener;
}

function relayed({ context, deployment, call, listener }: Sending, plan: Extract<Plan, { kind: 'relay' }>): Exchange {
  const { headers: raw, runId, target, match } = call;
  const rules = call.options.toolRules;
  const own = upstreamHeaders(raw, deployment, context.isOurs);
  // An answer that is held to rules must be read.
  const headers = rules.length === 0 ? own : withoutHeader(own, 'accept-encoding');
  const path = `${enginePath(match, target.path, plan.route.model)}${upstreamQuery(target.query, deployment, context.isOurs)}`;
  const sent: ExchangeRequest = {
    ...upstreamAddress(deployment, raw, path),
    method: match.path.method,
    headers: plan.decoded ? withoutHeader(headers, 'content-encoding') : headers,
    body: plan.body,
    silenceMs: deployment.silenceMs,
    runHex: runId.slice(4),
    dialect: match.dialect.id,
    model: plan.route.model,
    asides: asidesOf(raw, deployment),
  };
  const generates = match.path.operation === 'generate';
  // Embeddings tell their usage in the same words.
  const dialect = generates || match.path.operation === 'embeddings' ? match.dialect : undefined;
  const aside = (body: Buffer, streamed: boolean) => context.large.observe(body, { reader: dialect?.id, streamed, caller: call.share });
  return relay(sent, {
    ...listener,
    admitted: plan.admitted,
    deployment,
    reader: dialect,
    claim: claimFor(context.counted, deployment.engine),
    holding: context.budget.holding(call.share),
    aside,
    complete: match.path.operation === 'embeddings' ? countedBy(plan.body.length) : undefined,
    gate:
      rules.length === 0 || dialect === undefined || !generates
        ? undefined
        : { rules, dialect, context: wordsOf(call), ownName: (name) => name, aside, holding: context.budget.holding(call.share) },
    onFault: (error) => context.onFault(error, runId),
  });
}

function translated({ context, deployment, call, listener }: Sending, plan: Extract<Plan, { kind: 'translate' }>): Exchange | undefined {
  const { runId, target, match } = call;
  const { asked, changes } = plan;
  const counting = match.path.operation === 'count-tokens';
  if (counting && plan.route.target.lowerCount === undefined) {
    estimate(listener, match.dialect.tokenCount(asked.inputTokens ?? 0));
    return undefined;
  }
  const way = {
    ...(counting ? { count: true } : {}),
    context: {
      runHex: runId.slice(4),
      createdAtMs: Date.now(),
      model: match.model ?? asked.model,
      includeUsage: asked.includeUsage,
      query: target.query,
      ...(asked.echo === undefined ? {} : { echo: asked.echo }),
    },
  };
  const [engine, caller] = [plan.route.target, match.dialect];
  const sent: ExchangeRequest = {
    method: 'POST',
    origin: deployment.origin,
    path: `${deployment.basePath}${plan.path}`,
    headers: engineHeaders(deployment, plan.headers, context.version),
    body: plan.body,
    silenceMs: deployment.silenceMs,
    runHex: runId.slice(4),
    dialect: plan.route.target.id,
    model: plan.route.model,
    asides: asidesOf(call.headers, deployment),
  };
  const streamed = asked.stream && !counting;
  const holding = context.budget.holding(call.share);
  const turns =
    asked.hosted === true && !counting && pauses(engine, caller)
      ? { turns: new PausedTurns({ engine, caller, request: plan.body, context: way.context, holding }) }
      : {};
  return callMapped(sent, {
    ...listener,
    ...turns,
    admitted: plan.admitted,
    deployment,
    holding,
    streamed,
    judge: (question) => context.large.judge(question, call.share),
    onFault: (error) => context.onFault(error, runId),
    translation: { ...way, engine, caller, filter: new AnswerChanges(changes, streamed) },
    gate: counting ? undefined : gateOf(context, call, plan),
    aside: (body, headers) => context.large.translate(body, { ...way, headers, engine: engine.id, caller: caller.id, changes }, call.share),
  });
}

/** Rules about tools are held where the engine's answer is still in its own words; names that were rewritten for it are turned back. */
function gateOf(
  context: CallContext,
  call: VendorCall,
  { route, changes }: Extract<Plan, { kind: 'translate' }>,
): ToolGateOptions | undefined {
  const rules = call.options.toolRules;
  if (rules.length === 0) return undefined;
  const renames = changes.flatMap((change) => (change.kind === 'tool-names' ? [...change.renames] : []));
  const back = new Map(renames.map(([from, to]) => [to, from]));
  return {
    rules,
    dialect: route.target,
    context: wordsOf(call),
    ownName: (name) => back.get(name) ?? name,
    aside: (body, streamed) => context.large.observe(body, { reader: route.target.id, streamed, caller: call.share }),
    holding: context.budget.holding(call.share),
  };
}

/** The facts of the call that an error of ours inside a stream is written with. */
function wordsOf({ runId, target, match }: VendorCall): ToolGateOptions['context'] {
  return { runHex: runId.slice(4), createdAtMs: Date.now(), model: match.model ?? '', includeUsage: false, query: target.query };
}

/** An engine without a count endpoint: the count is our estimate, and the receipt says that no engine was called. */
function estimate({ answer, recorder, onTaken }: Listener, count: object): void {
  const body = Buffer.from(JSON.stringify(count), 'utf8');
  const headers = ['content-type', 'application/json; charset=utf-8', 'content-length', String(body.length)];
  recorder.tape?.caller.head(200, headers);
  recorder.tape?.caller.chunk(body);
  recorder.close({ status: 'completed', reason: 'estimated', error: null, response: null, eventCount: 1, whole: true });
  answer.head(200, headers);
  answer.write(body);
  answer.end([]);
  onTaken();
}
