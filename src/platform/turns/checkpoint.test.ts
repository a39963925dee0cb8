import { expect, test } from 'vitest';
import { freshState } from '../../loop/state.ts';
import { type Checkpoint, checkpointJson, checkpointOf } from './checkpoint.ts';

test('a checkpoint comes back as it was written', () => {
  const checkpoint: Checkpoint = {
    state: { ...freshState('msg_1'), iteration: 3, failure: { code: 'no_progress', message: 'stuck' } },
    grant: { host: false, recording: 'digest', tags: ['team:blue'] },
    request: { sha256: 'ab', bytes: 2 },
    events: 7,
  };
  expect(checkpointOf(checkpointJson(checkpoint))).toEqual(checkpoint);
});

test('a checkpoint of a version that knew less gets what has come since', () => {
  const { made, failure, spent, ...state } = freshState('msg_1');
  const old = { state: { ...state, spent: { inputTokens: 5, outputTokens: 2, costNanoUsd: 9 } }, grant: { host: true, recording: 'full' } };
  expect(checkpointOf(old as never)).toMatchObject({
    request: null,
    events: 0,
    state: {
      messageId: 'msg_1',
      made: [],
      failure: null,
      spent: { inputTokens: 5, cacheReadTokens: 0, costNanoUsd: 9, priceVersion: null },
    },
  });
});
