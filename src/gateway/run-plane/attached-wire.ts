import type { ProcessIdentity } from '../../base/process-table.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { EngineOffer, RunClosing, RunFates, RunKeyRequest, RunOpening, RunSpend } from '../../runtime/gateway-port.ts';
import type { AttachedClosing, AttachedKey, AttachedOpening, Fates, Offer, Spend } from '../api/attached-runs.ts';

/** The words of the gateway port on the wire between two processes of this program, both ways. */

export function offerToWire(offer: EngineOffer): Offer {
  if ('missing' in offer) return { ...offer };
  const { speaksDialect, needsModel, contextWindow, ...same } = offer;
  const window = contextWindow === undefined ? {} : { context_window: contextWindow };
  return { ...same, speaks_dialect: speaksDialect, needs_model: needsModel, ...window };
}

export function offerFromWire(offer: Offer): EngineOffer {
  if ('missing' in offer) return offer;
  const { speaks_dialect, needs_model, shared, base, context_window, ...same } = offer;
  return {
    ...same,
    speaksDialect: speaks_dialect,
    needsModel: needs_model,
    ...(shared !== undefined && { shared }),
    ...(base !== undefined && { base }),
    ...(context_window !== undefined && { contextWindow: context_window }),
  };
}

export function keyToWire(request: RunKeyRequest): object {
  const { agent, engine, model, emulate, traffic, compatibility, thinking, tools, raw, tags, expiresAt } = request;
  const wire = thinking === null ? null : { effort: thinking.effort, budget_tokens: thinking.budgetTokens };
  const key = { agent, engine, model, emulate, traffic, compatibility, thinking: wire, raw, tags, expires_at: expiresAt };
  // A server of an earlier version does not know rules about tools; a run that needs them is refused there.
  return tools == null ? key : { ...key, tools };
}

export function keyFromWire(runId: RunId, key: AttachedKey): RunKeyRequest {
  const { thinking, tools = null, expires_at: expiresAt, ...rest } = key;
  return {
    ...rest,
    runId,
    expiresAt,
    tools,
    thinking:
      thinking === null
        ? null
        : {
            ...(thinking.effort === undefined ? {} : { effort: thinking.effort }),
            ...(thinking.budget_tokens === undefined ? {} : { budgetTokens: thinking.budget_tokens }),
          },
  };
}

export function spendToWire({ calls, usage, nanoUsd, priceVersion }: RunSpend): Spend {
  return { calls, usage, nano_usd: nanoUsd, price_version: priceVersion };
}

export function spendFromWire({ calls, usage, nano_usd, price_version }: Spend): RunSpend {
  return { calls, usage, nanoUsd: nano_usd, priceVersion: price_version };
}

export function fatesToWire({ upstreamModel, emulations, fidelity, answerFidelity }: RunFates): Fates {
  return { upstream_model: upstreamModel, emulations: [...emulations], fidelity: [...fidelity], answer_fidelity: [...answerFidelity] };
}

export function fatesFromWire({ upstream_model, emulations, fidelity, answer_fidelity }: Fates): RunFates {
  return { upstreamModel: upstream_model, emulations, fidelity, answerFidelity: answer_fidelity };
}

export function openingToWire(opening: RunOpening, owner: ProcessIdentity): AttachedOpening {
  const { run: _run, untilEndOf, requestedModel, upstreamModel, fidelity, tags, rules, workOrder, ...rest } = opening;
  return {
    ...rest,
    owner,
    ends_with_owner: untilEndOf !== undefined,
    requested_model: requestedModel,
    upstream_model: upstreamModel,
    fidelity: [...fidelity],
    tags: [...tags],
    ...some('rules', rules),
    ...(workOrder === undefined ? {} : { work_order: workOrder }),
  };
}

export function openingFromWire(run: RunId, opening: AttachedOpening): RunOpening {
  const { owner: _owner, ends_with_owner: _ends, requested_model, upstream_model, work_order, negotiation, ...rest } = opening;
  return {
    ...rest,
    run,
    requestedModel: requested_model,
    upstreamModel: upstream_model,
    ...(work_order === undefined ? {} : { workOrder: work_order }),
    ...(negotiation === undefined ? {} : { negotiation }),
  };
}

export function closingToWire(closing: RunClosing): AttachedClosing {
  const {
    run: _run,
    upstreamModel,
    eventCount,
    toolCalls,
    lastByteMs,
    workspaceDelta,
    backendVersion,
    emulations,
    fidelity,
    answerFidelity,
    rules,
    changeSet,
    artifacts,
    approvals,
    entrants,
    sidecarReceipt,
    ...rest
  } = closing;
  return {
    ...rest,
    upstream_model: upstreamModel,
    event_count: eventCount,
    tool_calls: [...toolCalls],
    last_byte_ms: lastByteMs,
    workspace_delta: workspaceDelta,
    backend_version: backendVersion,
    // Empty members are left out: a server of an earlier version does not know all of these.
    ...some('emulations', emulations),
    ...some('fidelity', fidelity),
    ...some('answer_fidelity', answerFidelity),
    ...some('rules', rules),
    ...(changeSet === undefined ? {} : { change_set: changeSet }),
    ...(artifacts === undefined ? {} : { artifacts: [...artifacts] }),
    ...some('approvals', approvals),
    ...some('entrants', entrants),
    ...(sidecarReceipt === undefined ? {} : { sidecar_receipt: sidecarReceipt }),
  };
}

export function closingFromWire(run: RunId, closing: AttachedClosing): RunClosing {
  const { upstream_model, event_count, tool_calls, last_byte_ms, workspace_delta, backend_version, change_set, ...others } = closing;
  const { answer_fidelity, sidecar_receipt, ...rest } = others;
  return {
    ...rest,
    run,
    ...(answer_fidelity === undefined ? {} : { answerFidelity: answer_fidelity }),
    upstreamModel: upstream_model,
    eventCount: event_count,
    toolCalls: tool_calls,
    lastByteMs: last_byte_ms,
    workspaceDelta: workspace_delta,
    backendVersion: backend_version,
    ...(change_set === undefined ? {} : { changeSet: change_set }),
    ...(sidecar_receipt === undefined ? {} : { sidecarReceipt: sidecar_receipt }),
  };
}

/** The member, where it holds anything. */
function some<N extends string, T>(name: N, list: readonly T[] | undefined): { [K in N]?: T[] } {
  // The one member has the name of the type parameter.
  return (list === undefined || list.length === 0 ? {} : { [name]: [...list] }) as { [K in N]?: T[] };
}
