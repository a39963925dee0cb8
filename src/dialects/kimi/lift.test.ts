import { describe, expect, it } from 'vitest';
import type { Json } from '../../base/json.ts';
import { Ledger } from '../../ir/ledger.ts';
import { kimi } from './dialect.ts';

function lift(last: object) {
  const ledger = new Ledger();
  const body = {
    model: 'moonshot-v1-8k',
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: '{', ...last },
    ],
  };
  const request = kimi.liftRequest(body as Json, { ledger });
  return { meta: request.messages[1]?.meta, claim: ledger.claims.get('messages[1].content') };
}

describe('a last message of the assistant', () => {
  it('is a prefill when it is partial', () => {
    expect(lift({ partial: true })).toEqual({ meta: { kimi: { partial: true } }, claim: 'prefill' });
  });

  it('is no prefill without the word, and says so where it would become one', () => {
    expect(lift({})).toEqual({ meta: { kimi: { partial: false } }, claim: 'text' });
  });
});

it('claims the switch as thinking and what earlier turns keep as context management', () => {
  const ledger = new Ledger();
  const body = { model: 'kimi-k2.6', messages: [{ role: 'user', content: 'Hello' }], thinking: { type: 'enabled', keep: 'all' } };
  const request = kimi.liftRequest(body, { ledger });
  expect([request.thinking, request.vendor]).toEqual([{ mode: 'enabled' }, { kimi: { thinking: { keep: 'all' } } }]);
  expect([ledger.claims.get('thinking'), ledger.claims.get('thinking.type')]).toEqual(['context_management', 'thinking']);
});
