import type { Json, JsonObject } from '../../../base/json.ts';
import type { Command, EventDraft, Heard, SpawnPlan } from '../../adapter.ts';
import { listAt, objectAt, textAt } from '../lines/fields.ts';
import { inputOf } from './tools.ts';
import { type AcpRun, nameOf } from './updates.ts';

interface Permission {
  readonly id: Json;
  readonly allow: string | undefined;
  readonly reject: string | undefined;
}

/** Questions of the agent that wait for an answer, by the id we gave them. */
export type Permissions = Map<string, Permission>;

const NOBODY = 'nobody can give an approval in this run';

/**
 * The agent wants to know whether it may. The approval mode answers where nobody else can. The call in the question is made for
 * people and may have an id of its own; the call itself is told by its updates.
 */
export function askPermission(run: AcpRun & { readonly plan: SpawnPlan }, permissions: Permissions, id: Json, params: JsonObject): Heard {
  const call = objectAt(params.toolCall);
  const permission = { id, allow: optionOf(params, 'allow'), reject: optionOf(params, 'reject') };
  const { answerable, options } = run.plan;
  if (options.approvalMode === 'yolo') return { events: [], send: [reply(permission, permission.allow)] };
  const interactionId = `permission-${String(id)}`;
  const request = requestOf(interactionId, call, nameOf(run, run.calls.get(textAt(call.toolCallId) ?? '') ?? call));
  if (!answerable || options.approvalMode === 'deny') {
    run.refused = true;
    const denied: EventDraft = { type: 'approval_denied', interactionId, reason: NOBODY };
    return { events: [request, denied], send: [reply(permission, permission.reject)] };
  }
  permissions.set(interactionId, permission);
  return { events: [request] };
}

function requestOf(interactionId: string, call: JsonObject, toolName: string): EventDraft {
  const toolCallId = textAt(call.toolCallId);
  return {
    ...(toolCallId !== undefined && { toolCallId }),
    type: 'approval_request',
    interactionId,
    action: textAt(call.title) ?? toolName,
    detail: JSON.stringify(inputOf(call)),
    toolName,
    riskLevel: call.kind === 'execute' || call.kind === 'delete' ? 'high' : 'medium',
  };
}

/** The option for this once; one for always would outlive the run. */
function optionOf(params: JsonObject, verb: 'allow' | 'reject'): string | undefined {
  const options = listAt(params.options).map(objectAt);
  const option = options.find(({ kind }) => kind === `${verb}_once`) ?? options.find(({ kind }) => kind === `${verb}_always`);
  return textAt(option?.optionId);
}

function reply(permission: Permission, optionId: string | undefined): string {
  const outcome = optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId };
  return JSON.stringify({ jsonrpc: '2.0', id: permission.id, result: { outcome } });
}

/** The caller's answer; undefined when nothing of that name waits. */
export function answerPermission(
  run: AcpRun,
  permissions: Permissions,
  command: Extract<Command, { kind: 'approve' | 'deny' }>,
): readonly string[] | undefined {
  const permission = permissions.get(command.interactionId);
  if (permission === undefined) return undefined;
  permissions.delete(command.interactionId);
  run.refused = command.kind === 'deny';
  return [reply(permission, command.kind === 'approve' ? permission.allow : permission.reject)];
}
