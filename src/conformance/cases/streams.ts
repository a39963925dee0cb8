import type { Case } from '../case.ts';
import type { Voice } from '../voice.ts';
import { asking, PROMPTS } from './prompts.ts';
import { called, endsIn, readStreamed, says } from './reading.ts';

/** Streams: order of events, one end, usage. */
export function streamCases(voice: Voice): Case[] {
  return [
    {
      id: 'stream-text',
      category: 'stream',
      title: 'a streamed text has the events of the vendor, in order, with one end',
      needs: [],
      steps: [(_, target) => asking(voice, target, PROMPTS.hello, { stream: true })],
      check([answer], target) {
        const reading = readStreamed(voice, answer);
        const pieces = reading.folded?.pieces ?? 0;
        return [
          ...reading.problems,
          ...says(target, reading, 'hello there, this is a conformance test'),
          ...endsIn(voice, reading, 'stop'),
          ...(pieces > 1 ? [] : [`the text should arrive in pieces, not in ${pieces}`]),
        ];
      },
    },
    {
      id: 'stream-tools',
      category: 'stream',
      title: 'streamed tool calls have the events of the vendor, in order, with one end',
      needs: [],
      steps: [(_, target) => asking(voice, target, PROMPTS.parallel, { stream: true, tools: true })],
      check([answer], target) {
        const reading = readStreamed(voice, answer);
        const expected = ['lookup {"key":"alpha"}', 'lookup {"key":"beta"}'];
        return [...reading.problems, ...(target.deterministic ? called(reading, expected) : []), ...endsIn(voice, reading, 'tool-calls')];
      },
    },
    {
      id: 'stream-broken',
      category: 'stream',
      title: 'a stream that broke off does not look whole',
      needs: ['sim'],
      steps: [(_, target) => asking(voice, target, 'Say "one two three four" and cut the stream', { stream: true })],
      check([answer]) {
        if (answer === undefined || answer.status !== 200 || !answer.complete) return [];
        const { problems } = voice.fold(answer.events);
        return problems.length > 0 ? [] : ['the stream ends as if the answer were complete'];
      },
    },
  ];
}

/** The events of a stream carry this text nowhere: `[DONE]` belongs to one family only. */
export function neverSays(voice: Voice, text: string): Case {
  return {
    id: 'stream-no-done',
    category: 'stream',
    title: `a stream has no ${text}`,
    needs: [],
    steps: [(_, target) => asking(voice, target, PROMPTS.hello, { stream: true })],
    check: ([answer]) => (answer?.events.some(({ data }) => data === text) ? [`no event should be ${text}`] : []),
  };
}
