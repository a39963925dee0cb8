import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeSse } from '../../../base/sse.ts';
import { type Interaction, InteractionList, InteractionQuery } from '../../api/interactions.ts';
import { seesAll } from '../../auth/access.ts';
import type { Principal } from '../../auth/principal.ts';
import type { Gateway } from '../../gateway.ts';
import { openQuestions } from '../../inbox/open-questions.ts';
import { Reply } from '../../reply.ts';
import { defineRoute } from '../../route.ts';

/** Questions are few and are looked for in memory; a phone does not notice this much. */
const LOOK_MS = 500;
const KEEP_ALIVE_MS = 15_000;

/** The changes since the stream last told: questions that are new, and those that are no longer open. Two runs may ask under the same id. */
function changes(gateway: Gateway, open: readonly Interaction[], told: Map<string, Interaction>): string {
  const now = new Map(open.map((question) => [question.answer.path, question]));
  const asked = open.filter(({ answer }) => !told.has(answer.path));
  const closed = [...told.values()].filter(({ answer }) => !now.has(answer.path));
  for (const question of asked) told.set(question.answer.path, question);
  for (const { answer } of closed) told.delete(answer.path);
  const { items } = gateway.browsers.answered;
  const end = ({ id, run_id, session_id, answer }: Interaction): object => {
    return { id, run_id, session_id, answered: items.find((item) => item.answer.path === answer.path)?.answered ?? null };
  };
  return [
    ...asked.map((question) => encodeSse({ event: 'interaction.asked', data: JSON.stringify(question) })),
    ...closed.map((question) => encodeSse({ event: 'interaction.closed', data: JSON.stringify(end(question)) })),
  ].join('');
}

async function* questionEvents(gateway: Gateway, principal: Principal): AsyncGenerator<string> {
  const told = new Map<string, Interaction>();
  let quietSince = performance.now();
  yield encodeSse({ event: 'open', data: '{}' });
  while (!gateway.closing.aborted) {
    const text = changes(gateway, await openQuestions(gateway, principal), told);
    if (text !== '' || performance.now() - quietSince > KEEP_ALIVE_MS) {
      quietSince = performance.now();
      yield text || ': waiting\n\n';
    }
    await sleep(LOOK_MS);
  }
}

export const interactionRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/interactions',
    summary: 'Everything that coding agents and agents wait for, oldest first; or what was answered since the server started.',
    query: InteractionQuery,
    response: InteractionList,
    handle: async ({ gateway, principal, query }) => {
      const answered = (): typeof gateway.browsers.answered.items => (seesAll(principal) ? gateway.browsers.answered.items : []);
      const items = query.state === 'open' ? await openQuestions(gateway, principal) : answered();
      return { items, total: items.length };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/interactions/stream',
    summary: 'Server-sent events: questions as they are asked and as they are closed.',
    handle: ({ gateway, principal }) =>
      new Reply(200, Readable.from(questionEvents(gateway, principal)), {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
      }),
  }),
];
