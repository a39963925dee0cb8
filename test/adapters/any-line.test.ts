import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dialogue as claude } from '../../src/adapters/claude/events.ts';
import { dialogue as codex } from '../../src/adapters/codex/events.ts';
import { dialogue as copilot } from '../../src/adapters/copilot/events.ts';
import { dialogue as cursor } from '../../src/adapters/cursor/events.ts';
import { dialogue as gemini } from '../../src/adapters/gemini/events.ts';
import { planOf, told } from '../support/dialogue.ts';

const DIALOGUES = { claude, codex, copilot, cursor, gemini };

/** Words that the agents use, so that arbitrary lines reach the handlers and not only the log. */
const WORDS = [
  ...['type', 'subtype', 'system', 'init', 'assistant', 'user', 'result', 'message', 'content', 'stream_event', 'event', 'control_request'],
  ...[
    'tool_use',
    'tool_result',
    'tool_call',
    'started',
    'completed',
    'usage',
    'method',
    'params',
    'item',
    'item/started',
    'item/completed',
  ],
  ...['turn/completed', 'error', 'turn', 'data', 'tool.execution_start', 'tool.execution_complete', 'model.call_failure', 'id', 'delta'],
  ...[
    'rawResponseItem/completed',
    'commandExecution',
    'fileChange',
    'changes',
    'stats',
    'status',
    'thinking',
    'init',
    'tool_id',
    'call_id',
  ],
];

const word = fc.oneof(fc.constantFrom(...WORDS), fc.string());
const { line } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    word,
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('line'),
  ),
  line: fc.dictionary(word, tie('value'), { maxKeys: 6 }),
}));
const typed = fc.tuple(fc.constantFrom('type', 'method'), word, line).map(([key, type, rest]) => ({ ...(rest as object), [key]: type }));
const text = fc.oneof(
  fc.string(),
  typed.map((value) => JSON.stringify(value)),
  typed.map((value) => JSON.stringify(value).slice(0, -3)),
);

it.each(Object.entries(DIALOGUES))('%s makes events of the contract of whatever is printed, and never throws', (agent, dialogue) => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), fc.boolean(), (lines, answerable) => {
      const { outcome } = told(dialogue(planOf(agent, { sessionId: 's' }, { answerable })), lines);
      expect(typeof outcome.ok).toBe('boolean');
    }),
    { numRuns: 150 },
  );
});
