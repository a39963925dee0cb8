import type { Connection } from '../../client/http.ts';
import { type OrderWish, type RemoteRun, startRun, startWorkOrder } from '../../client/remote-run.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import type { WorkOrder } from '../../contract/work-orders/work-order.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { PlannedOrder } from '../../runtime/work-orders/work-orders.ts';

/** A run that the command line asks for: how it is started on a server, and how on one inside this process. */
export interface RunAsked {
  remote(connection: Connection): Promise<RemoteRun>;
  inside(gateway: Gateway): Promise<RunId>;
}

async function askOf(gateway: Gateway) {
  const { recordingFor } = await import('../../gateway/recording.ts');
  return { owner: { keyId: null, parent: null, tags: [] }, keepWords: recordingFor(gateway.config, { kind: 'token' }) === 'full' };
}

/** A coding agent on a prompt. */
export function agentAsked(options: RunOptions): RunAsked {
  return {
    remote: (connection) => startRun(connection, options),
    inside: async (gateway) => {
      const { runServiceOf } = await import('../../gateway/run-plane/runs.ts');
      return await (await runServiceOf(gateway)).start(options, await askOf(gateway));
    },
  };
}

/** A work order on a backend. */
export function orderAsked(order: WorkOrder, wish: OrderWish): RunAsked {
  return {
    remote: (connection) => startWorkOrder(connection, order, wish),
    inside: async (gateway) => {
      const { runServiceOf } = await import('../../gateway/run-plane/runs.ts');
      const { workOrdersOf } = await import('../../gateway/run-plane/work-orders.ts');
      const [service, orders, ask] = await Promise.all([runServiceOf(gateway), workOrdersOf(gateway), askOf(gateway)]);
      const { backend, engine } = wish;
      const rehearse = ({ gated, runId, ties }: PlannedOrder) => service.rehearse(gated, runId, { owner: ask.owner, ties });
      const { runId, gated, ties } = await orders.plan(order, { backend, engine, base: process.cwd(), rehearse });
      return await service.startGated(gated, { ...ask, runId, ties });
    },
  };
}
