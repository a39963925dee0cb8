import { isJsonObject } from '../../base/json.ts';
import type { Answer, Case, Finding } from '../case.ts';
import { shown } from '../problems.ts';
import type { Voice } from '../voice.ts';
import { asking, PROMPTS } from './prompts.ts';
import { readPlain } from './reading.ts';

const OVERLOADED = 503;

/** Refusals and failures in the vendor's own shape. */
export function errorCases(voice: Voice): Case[] {
  return [
    {
      id: 'malformed-json',
      category: 'errors',
      title: 'a body that is not JSON is a 400 in the vendor’s shape',
      needs: [],
      steps: [(_, target) => voice.raw(target.model, `{"model": ${JSON.stringify(target.model)}, "messages": [`)],
      check: ([answer]) => refused(voice, answer, [400]),
    },
    {
      id: 'missing-conversation',
      category: 'errors',
      title: 'a request without a conversation is a 400 in the vendor’s shape',
      needs: [],
      steps: [(_, target) => voice.raw(target.model, JSON.stringify(voice.incomplete(target.model)))],
      check: ([answer]) => refused(voice, answer, [400, 422]),
    },
    {
      id: 'unknown-model',
      category: 'errors',
      title: 'a model that does not exist is refused in the vendor’s shape',
      needs: [],
      steps: [(_, target) => asking(voice, { ...target, model: 'no-such-model-9f3c' }, PROMPTS.hello)],
      check: ([answer]) => unknownModel(voice, answer),
    },
    ...[429, 500, OVERLOADED].map((status) => engineFailure(voice, status)),
    {
      id: 'engine-failure-streamed',
      category: 'errors',
      title: 'an engine that fails before it streams is an error answer, not a stream',
      needs: ['sim'],
      steps: [(_, target) => asking(voice, target, 'fail with 429', { stream: true })],
      check: ([answer]) => refused(voice, answer, [429]),
    },
  ];
}

function refused(voice: Voice, answer: Answer | undefined, statuses: readonly number[]): string[] {
  if (answer === undefined) return ['there is no answer'];
  const status = statuses.includes(answer.status) ? [] : [`the status should be ${statuses.join(' or ')}, not ${answer.status}`];
  const type = answer.headers['content-type'] ?? '';
  const typed = type.startsWith('application/json') ? [] : [`the content type should be application/json, not ${shown(type)}`];
  return [...status, ...typed, ...voice.errorProblems(answer.json, answer.status)];
}

function unknownModel(voice: Voice, answer: Answer | undefined): Finding {
  if (answer?.status !== 200) return refused(voice, answer, [400, 404]);
  const { problems } = readPlain(voice, answer);
  return problems.length > 0 ? problems : { skip: 'the engine takes any model name' };
}

function engineFailure(voice: Voice, status: number): Case {
  return {
    id: `engine-${status}`,
    category: 'errors',
    title: `a ${status} of the engine reaches the caller in the vendor’s shape`,
    needs: ['sim'],
    steps: [(_, target) => asking(voice, target, `fail with ${status}`)],
    check: ([answer]) => [
      ...refused(voice, answer, [status === OVERLOADED ? voice.overloaded : status]),
      ...hint(answer, status),
      ...said(answer, status),
    ],
  };
}

function hint(answer: Answer | undefined, status: number): string[] {
  if (status !== 429 || answer?.headers['retry-after'] === '1') return [];
  return [`retry-after should be "1", not ${shown(answer?.headers['retry-after'])}`];
}

/** Whatever the vendor's phrase around it, the engine's own words are kept. */
function said(answer: Answer | undefined, status: number): string[] {
  const words = `sim was asked to fail with ${status}`;
  const error = isJsonObject(answer?.json) && isJsonObject(answer.json.error) ? answer.json.error : {};
  return typeof error.message === 'string' && error.message.includes(words) ? [] : [`the message should hold ${shown(words)}`];
}
