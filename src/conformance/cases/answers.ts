import { isJsonObject, type Json } from '../../base/json.ts';
import type { Answer, Case, Target } from '../case.ts';
import { shown } from '../problems.ts';
import type { Ask, Reading, Turn, Voice } from '../voice.ts';
import { ask, asking, PROMPTS, UNICODE_TEXT } from './prompts.ts';
import { bodyOf, called, endsIn, readPlain, readStreamed, says } from './reading.ts';

const HELLO = 'hello there, this is a conformance test';
const SMALL = 16;

/** Answers in one piece, and streams that add up to them. */
export function answerCases(voice: Voice): Case[] {
  return [plain(voice), unicode(voice), stopSequence(voice), tokenLimit(voice), ...sameStreamed(voice)];
}

function plain(voice: Voice): Case {
  return {
    id: 'plain',
    category: 'parity',
    title: 'a plain answer has the shape of the vendor',
    needs: [],
    steps: [(_, target) => asking(voice, target, PROMPTS.hello)],
    check([answer], target) {
      const reading = readPlain(voice, answer);
      return [...reading.problems, ...says(target, reading, HELLO), ...endsIn(voice, reading, 'stop'), ...counted(reading)];
    },
  };
}

function counted({ tokens }: Reading): string[] {
  return tokens.input > 0 && tokens.output > 0 ? [] : [`input and output tokens should be counted, not ${shown({ ...tokens })}`];
}

function unicode(voice: Voice): Case {
  return {
    id: 'unicode',
    category: 'parity',
    title: 'text beyond ASCII arrives and returns unharmed',
    needs: ['deterministic'],
    steps: [(_, target) => asking(voice, target, PROMPTS.unicode), (_, target) => asking(voice, target, PROMPTS.unicode, { stream: true })],
    check([first, second], target) {
      const readings = [readPlain(voice, first), readStreamed(voice, second)];
      return readings.flatMap((reading) => [...reading.problems, ...says(target, reading, UNICODE_TEXT)]);
    },
  };
}

function stopSequence(voice: Voice): Case {
  return {
    id: 'stop-sequence',
    category: 'parity',
    title: 'a stop sequence ends the answer, and is not part of it',
    needs: [],
    ...(voice.lacks.stop === undefined ? {} : { skip: voice.lacks.stop }),
    steps: [(_, target) => asking(voice, target, PROMPTS.stopped, { stop: ['STOP'] })],
    check([answer], target) {
      const reading = readPlain(voice, answer);
      const kept = reading.text.includes('STOP') ? [`the text should end before the stop sequence: ${shown(reading.text)}`] : [];
      const exact = target.deterministic ? says(target, reading, 'one two ') : [];
      return [...reading.problems, ...kept, ...exact, ...endsIn(voice, reading, 'stop-sequence')];
    },
  };
}

function tokenLimit(voice: Voice): Case {
  return {
    id: 'token-limit',
    category: 'parity',
    title: 'the token limit ends the answer, and the answer says so',
    needs: [],
    steps: [(_, target) => asking(voice, target, PROMPTS.long, { maxTokens: SMALL })],
    check([answer]) {
      const reading = readPlain(voice, answer);
      const over = reading.tokens.output > SMALL ? [`there should be at most ${SMALL} output tokens, not ${reading.tokens.output}`] : [];
      return [...reading.problems, ...over, ...endsIn(voice, reading, 'length')];
    },
  };
}

const SAME: Readonly<Record<string, { readonly title: string; readonly prompt: string; readonly more: Partial<Ask> }>> = {
  text: { title: 'a text', prompt: PROMPTS.hello, more: {} },
  call: { title: 'a tool call', prompt: PROMPTS.call, more: { tools: true } },
  calls: { title: 'two tool calls', prompt: PROMPTS.parallel, more: { tools: true } },
  limit: { title: 'a cut answer', prompt: PROMPTS.long, more: { maxTokens: SMALL } },
};

/** Each request once plain and once streamed: what the stream adds up to is the plain answer, or at least has its shape. */
function sameStreamed(voice: Voice): Case[] {
  return Object.entries(SAME).map(
    ([id, { title, prompt, more }]): Case => ({
      id: `same-streamed-${id}`,
      category: 'parity',
      title: `${title} is the same streamed as plain`,
      needs: [],
      steps: [(_, target) => asking(voice, target, prompt, more), (_, target) => asking(voice, target, prompt, { ...more, stream: true })],
      check([first, second], target) {
        const readings = [readPlain(voice, first), readStreamed(voice, second)] as const;
        return [...readings.flatMap(({ problems }) => problems), ...(target.deterministic ? differences(...readings) : [])];
      },
    }),
  );
}

function differences(plainReading: Reading, streamed: Reading): string[] {
  const views = [plainReading, streamed].map(({ text, calls, finish, tokens }) => ({
    text,
    calls: calls.map(({ name, input }) => ({ name, input })),
    finish,
    tokens: { ...tokens },
  }));
  const [one, other] = views.map((view) => JSON.stringify(view));
  return one === other ? [] : [`streamed and plain should say the same: plain ${one}, streamed ${other}`];
}

const VALUES: Readonly<Record<string, string>> = { alpha: 'the value of alpha is 17', beta: 'the value of beta is 42' };

/** Tool calls that are answered, over several turns. */
export function toolCases(voice: Voice): Case[] {
  const next = (answers: readonly Answer[], target: Target, prompt: string) => {
    const turns: Turn[] = [ask(prompt)];
    for (const answer of answers) {
      const { calls } = readPlain(voice, answer);
      if (calls.length === 0) return undefined;
      const results = calls.map((call) => ({ call, text: valueFor(call.input) }));
      turns.push({ kind: 'answer', body: bodyOf(answer) }, { kind: 'results', results });
    }
    return voice.ask({ model: target.model, turns, tools: true });
  };
  return [
    {
      id: 'tool-round-trip',
      category: 'parity',
      title: 'a tool is called twice, one call after the other, before the answer',
      needs: [],
      steps: [1, 2, 3].map(() => (answers: readonly Answer[], target: Target) => next(answers, target, PROMPTS.chain)),
      check(answers, target) {
        const [one, two, three] = [0, 1, 2].map((at) => readPlain(voice, answers[at]));
        if (one === undefined || two === undefined || three === undefined) return ['there should be three answers'];
        return [
          ...[one, two, three].flatMap(({ problems }) => problems),
          ...(target.deterministic ? [...called(one, ['lookup {"key":"alpha"}']), ...called(two, ['lookup {"key":"beta"}'])] : []),
          ...[one, two].flatMap((reading) => endsIn(voice, reading, 'tool-calls')),
          ...says(target, three, VALUES.beta ?? ''),
          ...endsIn(voice, three, 'stop'),
        ];
      },
    },
    {
      id: 'parallel-tools',
      category: 'parity',
      title: 'two tools are called at once, and both results are read',
      // A model may as well call one after the other.
      needs: ['deterministic'],
      steps: [1, 2].map(() => (answers: readonly Answer[], target: Target) => next(answers, target, PROMPTS.parallel)),
      check([first, second], target) {
        const [one, two] = [readPlain(voice, first), readPlain(voice, second)];
        const ids = one.calls.map(({ id }) => id).filter((id) => id !== '');
        return [
          ...one.problems,
          ...two.problems,
          ...called(one, ['lookup {"key":"alpha"}', 'lookup {"key":"beta"}']),
          ...(new Set(ids).size === ids.length ? [] : [`the calls should have different ids, not ${shown(ids)}`]),
          ...endsIn(voice, one, 'tool-calls'),
          ...says(target, two, Object.values(VALUES).join('\n')),
        ];
      },
    },
  ];
}

function valueFor(input: Json): string {
  const key = isJsonObject(input) ? String(input.key) : '';
  return VALUES[key] ?? 'there is no such key';
}
