import { expect, it } from 'vitest';
import { InteractionIds } from './interaction-ids.ts';

const asked = (interactionId: string) => ({ type: 'approval_denied', interactionId }) as const;

it('shows ids that stand in an address as they are, and answers to them by the id that the agent knows', () => {
  const ids = new InteractionIds();
  for (const own of ['../../x', 'a/b', 'call 1', '%2e', 'é', '', 'x'.repeat(500), '..']) {
    const [shown] = ids.shown([asked(own)]);
    const id = shown !== undefined && 'interactionId' in shown ? shown.interactionId : '';
    expect(encodeURIComponent(id)).toBe(id);
    expect(id).toMatch(/^q_[0-9a-f]{24}$/);
    expect(ids.own({ kind: 'approve', interactionId: id })).toEqual({ kind: 'approve', interactionId: own });
  }
  expect(ids.shown([asked('req_1-A'), { type: 'aborted' }])).toEqual([asked('req_1-A'), { type: 'aborted' }]);
  expect(ids.own({ kind: 'deny', interactionId: 'req_1-A' })).toEqual({ kind: 'deny', interactionId: 'req_1-A' });
});
