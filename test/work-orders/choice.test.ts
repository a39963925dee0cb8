import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { AbpError } from '../../src/contract/errors.ts';
import { type WorkOrder, workOrder } from '../../src/contract/work-orders/work-order.ts';
import { createCodingAgents } from '../../src/runtime/coding-agents/coding-agents.ts';
import { type PlannedOrder, WorkOrders } from '../../src/runtime/work-orders/work-orders.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { needing } from '../support/needs.ts';

const folder = mkdtempSync(join(tmpdir(), 'abp-choice-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A folder with these agents, and nothing else that the machine may have. */
function installed(name: string, commands: readonly string[]): string {
  for (const command of commands) fakeCommand(join(folder, name), command);
  return join(folder, name);
}

const PATH = installed('one', ['claude']);
const SEVERAL = installed('several', ['claude', 'opencode', 'pi']);
/** Engines of this machine ask for no key, whether or not anybody answers there. */
const KEYLESS = ['sim', 'ollama', 'lmstudio', 'vllm'];

interface Choosing {
  readonly env?: Readonly<Record<string, string>>;
  readonly keys?: readonly string[];
  readonly order?: WorkOrder;
  readonly engine?: string;
  readonly rehearse?: (planned: PlannedOrder) => Promise<void>;
}

/** The plan for an order where coding agents are installed, for a user with these variables and engines with keys. */
async function planned({ env = {}, keys = [], order = ORDER, engine, rehearse }: Choosing): Promise<PlannedOrder> {
  const own = { PATH, HOME: folder, ...env };
  const orders = new WorkOrders({
    agents: createCodingAgents({ env: own }),
    sidecars: {},
    env: own,
    engineObstacle: (id) => (KEYLESS.includes(id) || keys.includes(id) ? undefined : 'it has no key here'),
    price: () => undefined,
    redact: (text) => text,
  });
  return await orders.plan(order, { base: folder, rehearse, ...(engine !== undefined && { engine }) });
}

const ORDER = workOrder('say hello').workspace({ root: folder }).build();
const chosen = async (choosing: Choosing): Promise<string> => (await planned(choosing)).backend;

const unknown = process.platform === 'darwin' ? 'on macOS nobody but the agent knows whether it is logged in' : undefined;

it.skipIf(unknown !== undefined)(needing('an agent whose calls would reach nobody is not chosen', unknown), async () => {
  expect(await chosen({})).toBe('engine:sim');
  expect(await chosen({ env: { ANTHROPIC_API_KEY: 'k' } })).toBe('adapter:claude');
  expect(await chosen({ keys: ['claude'] })).not.toBe('engine:sim');
  expect(await chosen({ engine: 'sim' })).toBe('adapter:claude');
  // Agents that speak to every vendor go to one of them unless told.
  expect(await chosen({ env: { PATH: SEVERAL } })).toBe('engine:sim');
  expect(await chosen({ env: { PATH: SEVERAL }, keys: ['openai'] })).toBe('adapter:opencode');
  const named = workOrder('say hello').workspace({ root: folder }).config({ model: 'anthropic/claude-sonnet-4-5' }).build();
  expect(await chosen({ env: { PATH: SEVERAL }, keys: ['claude'], order: named })).not.toBe('engine:sim');
});

it('a backend that refuses the order makes way for the next, and the receipt says why', async () => {
  const env = { PATH: SEVERAL };
  const keys = ['openai', 'claude'];
  const refuses = (backends: readonly string[]) => async (plan: PlannedOrder) => {
    if (backends.includes(plan.backend)) throw new AbpError('E005', `${plan.backend} cannot hold it`, { operation: 'run' });
  };
  expect(await chosen({ env, keys })).toBe('adapter:claude');
  const { backend, ties } = await planned({ env, keys, rehearse: refuses(['adapter:claude']) });
  expect(backend).toBe('adapter:opencode');
  expect(ties.commission.workOrder.candidates).toContainEqual({
    backend: 'adapter:claude',
    why: expect.stringContaining('refused the order: adapter:claude cannot hold it'),
  });
  // No simulated model answers where a real one has refused.
  const all = refuses(['adapter:claude', 'adapter:opencode', 'adapter:pi']);
  await expect(planned({ env, keys, rehearse: all })).rejects.toThrow(
    'The best backend for this order is adapter:claude, which refuses it, and 2 others refuse it, too: adapter:claude cannot hold it',
  );
});

it('an order that is wrong in itself is refused in one voice', async () => {
  const order = workOrder('say hello')
    .workspace({ root: join(folder, 'nowhere') })
    .build();
  await expect(planned({ env: { PATH: SEVERAL }, keys: ['openai', 'claude'], order })).rejects.toThrow(
    /^work order is not valid: workspace\.root/,
  );
});

it('a request that passes is given to the engine of its model', async () => {
  const abp = { mode: 'passthrough', request: { model: 'sim', messages: [] } };
  const order = workOrder('pass it on').workspace({ root: folder }).config({ vendor: { abp } }).build();
  expect(await chosen({ env: { ANTHROPIC_API_KEY: 'k' }, order })).toBe('engine:sim');
});
