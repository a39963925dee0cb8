import { expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';

/** 1,000 by `ABP_STREAMS=1000`; enough of them here to overlap. */
const STREAMS = Number(process.env.ABP_STREAMS ?? 120);

const ask = (at: number): string =>
  JSON.stringify({
    model: 'sim-1',
    max_tokens: 1000,
    stream: at % 4 !== 0,
    messages: [{ role: 'user', content: `wait ${at % 3} ms between words and say "${`stream ${at} `.repeat(1 + (at % 9))}"` }],
  });

/** What every caller got: passed through and mapped, streamed and whole. */
async function delivered({ url }: TestGateway): Promise<string[]> {
  const paths = ['/e/sim/v1/messages', '/e/sim:openai-chat/v1/messages'];
  return await Promise.all(
    Array.from({ length: STREAMS }, async (_, at) => {
      const answer = await post(`${url}${paths[at % 2]}`, ask(at));
      // Ids of mapped answers derive from the run.
      return `${answer.status} ${answer.complete} ${answer.body.toString().replace(/(?:msg|call)_[0-9a-f]{24}/g, 'id')}`;
    }),
  );
}

it('callers get the same bytes with full recording as with none', async () => {
  const answers: string[][] = [];
  for (const recording of ['off', 'full'] as const) {
    const server = await startGateway({ config: { recording: { default: recording } } });
    try {
      answers.push(await delivered(server));
      expect(server.faults()).toBe('');
    } finally {
      await server.close();
    }
  }
  expect(answers[0]).toHaveLength(STREAMS);
  expect(answers[1]).toEqual(answers[0]);
  expect(new Set(answers[0]).size).toBeGreaterThan(STREAMS / 2);
});
