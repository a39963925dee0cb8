import { describe, expect, it } from 'vitest';
import type { Json } from '../../base/json.ts';
import { claude } from '../../dialects/claude/dialect.ts';
import { gemini } from '../../dialects/gemini/dialect.ts';
import { openaiChat } from '../../dialects/openai-chat/dialect.ts';
import { AnswerAccount, type AnswerRecord } from './account.ts';

const MESSAGE: Json = { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'hi' }], stop_reason: 'end_turn' };

/** The record of a Claude answer for a caller of Chat Completions. */
function recorded(answer: Json, more: (account: AnswerAccount) => void = () => undefined): AnswerRecord {
  const account = new AnswerAccount(claude, openaiChat);
  account.whole(answer);
  more(account);
  return account.record();
}

describe('the record of an answer', () => {
  it('is shared by answers that are alike', () => {
    expect(recorded({ ...(MESSAGE as object), id: 'msg_2' })).toBe(recorded(MESSAGE));
  });

  it.each<[string, Json, ((account: AnswerAccount) => void)?]>([
    [
      'holds more',
      {
        ...(MESSAGE as object),
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      } as Json,
    ],
    ['holds a member that nobody knows', { ...(MESSAGE as object), new_member: 1 } as Json],
    ['stops for a reason that nobody knows', { ...(MESSAGE as object), stop_reason: 'tired' } as Json],
    ['came with another header', MESSAGE, (account) => account.headers(['Retry-After', '3'])],
    ['was changed on its way', MESSAGE, (account) => account.note('text', { fate: 'emulated', code: 'as_labelled_text', note: 'told' })],
    ['was lost', MESSAGE, (account) => account.lost()],
    ['ended in a failure', MESSAGE, (account) => account.gaveUp()],
  ])('is its own where one %s', (_how, answer, more) => {
    expect(recorded(answer, more)).not.toEqual(recorded(MESSAGE));
  });

  it('is its own where another dialect reads the same answer', () => {
    const account = new AnswerAccount(claude, gemini);
    account.whole(MESSAGE);
    expect(account.record()).not.toEqual(recorded(MESSAGE));
  });

  it('tells of no other answer what nobody knew in this one', () => {
    recorded({ ...(MESSAGE as object), new_member: 1 });
    expect(recorded(MESSAGE).fidelity.map(({ path }) => path)).not.toContain('new_member');
  });
});
