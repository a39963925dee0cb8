import type { Case } from '../case.ts';
import { Problems } from '../problems.ts';
import { claude as voice } from '../voices/claude.ts';
import { type DialectCases, everyDialect } from './every-dialect.ts';
import { asking, PROMPTS } from './prompts.ts';
import { bodyOf } from './reading.ts';
import { neverSays } from './streams.ts';

const stopSequenceNamed: Case = {
  id: 'stop-sequence-named',
  category: 'parity',
  title: 'an answer that met a stop sequence names it, where the engine tells',
  needs: [],
  steps: [(_, target) => asking(voice, target, PROMPTS.stopped, { stop: ['STOP'] })],
  check([answer]) {
    const { stop_reason: reason, stop_sequence: sequence } = bodyOf(answer);
    const p = new Problems();
    p.is(`stop_sequence beside ${String(reason)}`, sequence, reason === 'stop_sequence' ? 'STOP' : null);
    return p.list;
  },
};

export const claude: DialectCases = { voice, cases: [...everyDialect(voice), neverSays(voice, '[DONE]'), stopSequenceNamed] };
