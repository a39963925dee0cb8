import type { Case } from '../case.ts';
import type { Voice } from '../voice.ts';
import { type DialectCases, everyDialect } from './every-dialect.ts';
import { asking, PROMPTS } from './prompts.ts';

/** The cases of one vendor of the Chat family. */
export function chatCases(voice: Voice): DialectCases {
  return { voice, cases: [...everyDialect(voice), done(voice)] };
}

function done(voice: Voice): Case {
  return {
    id: 'stream-done',
    category: 'stream',
    title: 'a stream ends in one [DONE]',
    needs: [],
    steps: [(_, target) => asking(voice, target, PROMPTS.hello, { stream: true })],
    check([answer]) {
      const ends = (answer?.events ?? []).map(({ data }) => data === '[DONE]');
      return ends.at(-1) === true && ends.filter(Boolean).length === 1 ? [] : ['the last event, and only that, should be [DONE]'];
    },
  };
}
