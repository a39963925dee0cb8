import { expect, it } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { Deadlines } from '../process/deadlines.ts';
import { Approvals } from './approvals.ts';

it('asks about so many calls at the same time, and denies further ones until some are answered', async () => {
  const asked: string[] = [];
  const approvals = new Approvals({
    options: { agent: 'claude', prompt: 'x', approvalMode: 'prompt', approvalTimeout: 0 },
    cwd: '/',
    clock: systemClock,
    deadlines: new Deadlines({ totalMs: undefined, silenceMs: undefined, onExpired: () => undefined }),
    verdictOn: () => undefined,
    tell: () => true,
    emit: (draft) => {
      if (draft.type !== 'approval_request') return;
      asked.push(draft.interactionId);
      approvals.open({ ...draft, runId: 'run_1', agent: 'claude', timestamp: 0 });
    },
  });
  const decisions = Array.from({ length: 5001 }, (_, at) => approvals.request({ toolName: 'write', input: { at } }));
  expect(asked).toHaveLength(5000);
  expect(await decisions[5000]).toEqual({ approve: false, reason: '5000 questions of this run wait already' });
  approvals.answer(asked[0], { approve: true });
  expect(await decisions[0]).toMatchObject({ approve: true });
  void approvals.request({ toolName: 'write', input: {} });
  expect(asked).toHaveLength(5001);
  approvals.end();
});
