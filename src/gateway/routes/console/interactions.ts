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

/** The changes since the stream last told: questions that are new, and ids of those that are no longer open. */
function changes(gateway: Gateway, open: readonly Interaction[], told: Set<string>): string {
  const asked = open.filter(({ id }) => !told.has(id));
  const closed = [...told].filter((id) => !open.some((question) => question.id === id));
  for (const { id } of asked) told.add(id);
  for (const id of closed) told.delete(id);
  const answered = (id: string): unknown => gateway.browsers.answered.items.find((item) => item.id === id)?.answered ?? null;
  return [
    ...asked.map((question) => encodeSse({ event: 'interaction.asked', data: JSON.stringify(question) })),
    ...closed.map((id) => encodeSse({ event: 'interaction.closed', data: JSON.stringify({ id, answered: answered(id) }) })),
  ].join('');
}

async function* questionEvents(gateway: Gateway, principal: Principal): AsyncGenerator<string> {
  const told = new Set<string>();
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
    need: { kind: 'read' },
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
    need: { kind: 'read' },
    handle: ({ gateway, principal }) =>
      new Reply(200, Readable.from(questionEvents(gateway, principal)), {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
      }),
  }),
];
