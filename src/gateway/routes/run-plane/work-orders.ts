import { resolve } from 'node:path';
import type { CallOwner } from '../../../calls/call.ts';
import { AbpError } from '../../../contract/errors.ts';
import type { RunOptions } from '../../../contract/runs/run-options.ts';
import { WorkOrder } from '../../../contract/work-orders/work-order.ts';
import type { PlannedOrder } from '../../../runtime/work-orders/work-orders.ts';
import { AcceptedOrder, WorkOrderQuery } from '../../api/work-orders.ts';
import { authorizeRun } from '../../auth/access.ts';
import { ownerOf, type Principal } from '../../auth/principal.ts';
import { assertRunRights } from '../../auth/run-rights.ts';
import type { Gateway } from '../../gateway.ts';
import { recordingFor } from '../../recording.ts';
import { Reply } from '../../reply.ts';
import { defineRoute } from '../../route.ts';
import { runServiceOf } from '../../run-plane/runs.ts';
import { runIdOf } from '../../run-plane/unknown-run.ts';
import { workOrdersOf } from '../../run-plane/work-orders.ts';
import { tracedFrom } from '../../telemetry/traced-from.ts';

/** The part of an order that rights are about, as options of a run. */
function firstLook({ task, workspace, config }: WorkOrder): RunOptions {
  return { agent: 'order', prompt: task, cwd: resolve(workspace.root), env: config.env };
}

/** On whose behalf the order runs: of the caller, and of a run that the caller has under way. */
function ownedBy(gateway: Gateway, principal: Principal, parent: string | undefined): CallOwner {
  const owner = ownerOf(principal);
  if (parent === undefined) return owner;
  const run = runIdOf(parent);
  if (gateway.calls.live.pending(run) !== undefined && gateway.calls.live.keyOf(run) === owner.keyId) return { ...owner, parent: run };
  throw new AbpError('not_found', `You have no run ${parent} under way that this one could be part of.`, { run_id: parent });
}

export const workOrderRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/work-orders',
    summary: 'Starts a run that executes a work order. Requirements are negotiated with its backend before anything is started.',
    query: WorkOrderQuery,
    body: WorkOrder,
    accepted: AcceptedOrder,
    handle: async ({ gateway, principal, runId: request, query, body }) => {
      const orders = await workOrdersOf(gateway);
      // Before a folder is looked at: whether it is there is not for everybody to know.
      assertRunRights(principal, firstLook(body), gateway.config);
      const { parent, ...wish } = query;
      const owner = { ...ownedBy(gateway, principal, parent), ...tracedFrom(gateway, request) };
      const service = await runServiceOf(gateway);
      const rehearse = async ({ gated, asks, runId, ties }: PlannedOrder): Promise<void> => {
        authorizeRun(principal, { agent: gated.options.agent, engine: gated.options.engine });
        for (const asked of asks) assertRunRights(principal, asked, gateway.config);
        await service.rehearse(gated, runId, { owner, ties });
      };
      const { backend, runId, gated, ties } = await orders.plan(body, { ...wish, base: process.cwd(), rehearse });
      const keepWords = recordingFor(gateway.config, principal) === 'full';
      await service.startGated(gated, { owner, keepWords, runId, ties });
      return new Reply(202, { run_id: runId, work_order_id: body.id, backend, status: 'running' });
    },
  }),
];
