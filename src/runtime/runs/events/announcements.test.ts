import { expect, it } from 'vitest';
import { planOf } from '../../../../test/support/dialogue.ts';
import { findAdapter } from '../../../adapters/index.ts';
import { announcements } from './announcements.ts';

it('says what the gateway sets, also for a wish that the agent itself has no words for', () => {
  const adapter = findAdapter('opencode');
  if (adapter === undefined) throw new Error('opencode is not registered');
  const plan = planOf('opencode');
  const detail = 'the gateway sets {"reasoning_effort":"medium"} on every call';
  const spec = { ...adapter.spawn(plan), thinking: { by: 'wire', detail } } as const;
  const detected = { installed: true, effective: adapter.capabilities };
  const traffic = { kind: 'gateway', engine: 'openai', credential: 'ours', forcedModel: null } as const;
  const said = announcements(plan.options, { adapter, traffic, spec, detected, plan, wanted: { thinking: {}, notes: [] } });
  expect(said).toContainEqual({ type: 'debug', level: 'info', message: `thinking: wire: ${detail}` });
});
