import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { createCodingAgents } from '../../src/runtime/coding-agents/coding-agents.ts';
import { WorkOrders } from '../../src/runtime/work-orders/work-orders.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { needing } from '../support/needs.ts';

const folder = mkdtempSync(join(tmpdir(), 'abp-choice-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const PATH = fakeCommand(join(folder, 'bin'), 'claude');

/** The backend that is chosen where Claude Code is installed, for a user with these variables and engines with keys. */
async function chosen(env: Readonly<Record<string, string>>, keys: readonly string[], engine?: string): Promise<string> {
  const own = { PATH, HOME: folder, ...env };
  const orders = new WorkOrders({
    agents: createCodingAgents({ env: own }),
    sidecars: {},
    env: own,
    engineObstacle: (id) => (id === 'sim' || keys.includes(id) ? undefined : 'it has no key here'),
    price: () => undefined,
    redact: (text) => text,
  });
  const order = workOrder('say hello').workspace({ root: folder }).build();
  const { backend } = await orders.plan(order, { base: folder, ...(engine !== undefined && { engine }) });
  return backend;
}

const unknown = process.platform === 'darwin' ? 'on macOS nobody but the agent knows whether it is logged in' : undefined;

it.skipIf(unknown !== undefined)(needing('an agent whose calls would reach nobody is not chosen', unknown), async () => {
  expect(await chosen({}, [])).toBe('engine:sim');
  expect(await chosen({ ANTHROPIC_API_KEY: 'k' }, [])).toBe('adapter:claude');
  expect(await chosen({}, ['claude'])).not.toBe('engine:sim');
  expect(await chosen({}, [], 'sim')).toBe('adapter:claude');
});
