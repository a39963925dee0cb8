import { pricesOf } from '../../engines/engine.ts';
import { findEngine } from '../../engines/index.ts';
import type { costOf } from '../../models/cost.ts';
import type { SidecarSetting } from '../../runtime/work-orders/programs.ts';
import type { WorkOrders } from '../../runtime/work-orders/work-orders.ts';
import type { Config } from '../config.ts';
import type { Gateway } from '../gateway.ts';
import { codingAgentsOf } from './runs.ts';

/** The reader of work orders of a server; loaded with the first one. */
export function workOrdersOf(gateway: Gateway): Promise<WorkOrders> {
  gateway.runPlane.workOrders ??= make(gateway);
  return gateway.runPlane.workOrders;
}

async function make(gateway: Gateway): Promise<WorkOrders> {
  const [{ WorkOrders }, cost, agents] = await Promise.all([
    import('../../runtime/work-orders/work-orders.ts'),
    import('../../models/cost.ts'),
    codingAgentsOf(gateway),
  ]);
  return new WorkOrders({
    agents,
    sidecars: sidecarSettings(gateway.config),
    env: process.env,
    engineObstacle: (id) => obstacleOf(gateway, id),
    price: (engine, model) => priceOf(engine, model, cost.costOf),
    redact: gateway.store.withoutSecrets,
  });
}

function obstacleOf({ calls: { deployments } }: Gateway, id: string): string | undefined {
  const balancer = deployments.get(id);
  if (balancer === undefined) return 'it is not configured';
  const deployment = balancer.first;
  if (deployment.engine.transport !== undefined) return undefined;
  if (deployment.origin === '') return 'it has no address here';
  if (deployment.auth === 'caller') return 'it has no key here';
  return balancer.all.every(({ health }) => health?.isOpen === true) ? 'its breaker is open' : undefined;
}

const MILLION = 1_000_000;
const NANO = 1e9;

function priceOf(engine: string, model: string, cost: typeof costOf): number | undefined {
  const found = findEngine(engine);
  const prices = found === undefined ? undefined : pricesOf(found, model);
  if (prices === undefined) return undefined;
  const usage = { inputTokens: MILLION, outputTokens: MILLION, cacheReadTokens: 0, cacheWriteTokens: 0, webSearchRequests: 0 };
  const nano = cost(usage, model, prices, new Date());
  return nano === undefined ? undefined : nano / NANO;
}

/** Sidecars of the configuration. */
function sidecarSettings({ sidecars }: Config): Record<string, SidecarSetting> {
  return Object.fromEntries(
    Object.entries(sidecars).map(([name, { command, env, shows, engine, handshake_s, heartbeat_s }]) => [
      name,
      {
        command,
        env,
        shows,
        times: { handshakeMs: handshake_s * 1000, heartbeatMs: heartbeat_s * 1000 },
        ...(engine !== undefined && { engine }),
      },
    ]),
  );
}
