import { describe, expect, test } from 'vitest';
import { Ledger } from '../../ir/ledger.ts';
import type { IrRequest } from '../../ir/request.ts';
import { liftRequest } from './lift.ts';
import { lowerRequest } from './lower.ts';

const context = { lacks: new Set<never>(), traits: new Set<string>(), defaultMaxTokens: 8192 };
const user = { role: 'user', parts: [{ kind: 'text', text: 'q' }] } as const;

function lower(changes: Partial<IrRequest>): ReturnType<typeof lowerRequest> {
  return lowerRequest({ model: 'm', stream: false, messages: [user], tools: [], stop: [], sampling: {}, vendor: {}, ...changes }, context);
}

describe('thinking', () => {
  test('has a budget that Claude takes: not below its least, not up to the limit, and one of ours where the caller names none', () => {
    const budgetOf = (budgetTokens: number | undefined, maxTokens?: number): unknown => {
      const { body, notes } = lower({
        thinking: { mode: 'enabled', ...(budgetTokens === undefined ? {} : { budgetTokens }) },
        ...(maxTokens === undefined ? {} : { maxTokens }),
      });
      return [body.max_tokens, body.thinking, notes.map(({ concept, fate }) => [concept, fate])];
    };
    expect(budgetOf(2048, 4096)).toEqual([4096, { type: 'enabled', budget_tokens: 2048 }, []]);
    expect(budgetOf(128, 4096)).toEqual([4096, { type: 'enabled', budget_tokens: 1024 }, [['thinking', 'emulated']]]);
    expect(budgetOf(8000, 4096)).toEqual([4096, { type: 'enabled', budget_tokens: 4095 }, [['thinking', 'emulated']]]);
    expect(budgetOf(undefined, 9000)).toEqual([9000, { type: 'enabled', budget_tokens: 4096 }, [['thinking', 'emulated']]]);
    expect(budgetOf(24_576)).toEqual([32_768, { type: 'enabled', budget_tokens: 24_576 }, [['max_tokens', 'renamed']]]);
    expect(budgetOf(2048, 1000)).toEqual([1000, { type: 'enabled', budget_tokens: 1024 }, [['thinking', 'refused']]]);
  });

  test('is a budget on a model that has neither effort levels nor adaptive thinking', () => {
    const older = { lacks: new Set(['effort'] as const), traits: new Set(['budget-thinking']), defaultMaxTokens: 8192 };
    const lowerOlder = (changes: Partial<IrRequest>): unknown => {
      const request = { model: 'm', stream: false, messages: [user], tools: [], stop: [], sampling: {}, vendor: {}, maxTokens: 20_000 };
      const { body, notes } = lowerRequest({ ...request, ...changes }, older);
      return [body.thinking, body.output_config, notes.map(({ concept, fate }) => [concept, fate])];
    };
    expect(lowerOlder({ effort: 'medium' })).toEqual([{ type: 'enabled', budget_tokens: 8192 }, undefined, [['effort', 'emulated']]]);
    expect(lowerOlder({ effort: 'none' })).toEqual([{ type: 'disabled' }, undefined, [['effort', 'renamed']]]);
    expect(lowerOlder({ effort: 'high', thinking: { mode: 'enabled', budgetTokens: 2000 } })).toEqual([
      { type: 'enabled', budget_tokens: 2000 },
      undefined,
      [['effort', 'emulated']],
    ]);
    expect(lowerOlder({ effort: 'high', toolChoice: { kind: 'required' } })).toEqual([undefined, undefined, [['effort', 'emulated']]]);
    expect(lowerOlder({ thinking: { mode: 'adaptive' } })).toEqual([
      { type: 'enabled', budget_tokens: 4096 },
      undefined,
      [['thinking', 'emulated']],
    ]);
  });

  test('excludes a forced call and sampling of the caller’s choice', () => {
    const { notes } = lower({
      maxTokens: 4096,
      thinking: { mode: 'adaptive' },
      toolChoice: { kind: 'required' },
      sampling: { temperature: 0.5, topK: 5 },
    });
    expect(notes.map(({ concept, fate }) => [concept, fate])).toEqual([
      ['tool_choice', 'refused'],
      ['temperature', 'refused'],
      ['top_k', 'refused'],
    ]);
    expect(lower({ maxTokens: 4096, thinking: { mode: 'adaptive' }, sampling: { temperature: 1 } }).notes).toEqual([]);
  });
});

test('a message of which nothing is left is not sent', () => {
  const { body, notes } = lower({ maxTokens: 9, messages: [user, { role: 'assistant', parts: [{ kind: 'thinking', text: 'hm' }] }, user] });
  expect(body.messages).toEqual([
    { role: 'user', content: 'q' },
    { role: 'user', content: 'q' },
  ]);
  expect(notes.map(({ concept, fate }) => [concept, fate])).toEqual([['thinking_history', 'dropped']]);
});

test('a last message of the assistant is claimed as a prefill, an earlier one as text', () => {
  const said = { role: 'assistant', content: 'Sure' };
  const ledger = new Ledger();
  liftRequest(
    { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'q' }, said, { role: 'user', content: 'q' }, said] },
    { ledger },
  );
  expect([ledger.claims.get('messages[1].content'), ledger.claims.get('messages[3].content')]).toEqual(['text', 'prefill']);
});
