import type { Case } from '../case.ts';
import { gemini as voice } from '../voices/gemini.ts';
import { type DialectCases, everyDialect } from './every-dialect.ts';
import { asking, PROMPTS } from './prompts.ts';
import { neverSays } from './streams.ts';

const crlf: Case = {
  id: 'stream-crlf',
  category: 'stream',
  title: 'lines of a stream end in CRLF',
  needs: [],
  steps: [(_, target) => asking(voice, target, PROMPTS.hello, { stream: true })],
  check: ([answer]) =>
    /(?<!\r)\n/.test(answer?.text ?? '\n') ? ['every line should end in CRLF, as the vendor’s do; some end in LF alone'] : [],
};

const list: Case = {
  id: 'stream-list',
  category: 'stream',
  title: 'without alt=sse a stream is one JSON list',
  needs: [],
  steps: [
    (_, target) => {
      const call = asking(voice, target, PROMPTS.hello, { stream: true });
      return { ...call, path: call.path.replace('?alt=sse', '') };
    },
  ],
  check: ([answer]) => (Array.isArray(answer?.json) && answer.json.length > 0 ? [] : ['the body should be a JSON list of chunks']),
};

export const gemini: DialectCases = { voice, cases: [...everyDialect(voice), neverSays(voice, '[DONE]'), crlf, list] };
