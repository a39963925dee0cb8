import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cancelTurn } from '../../src/platform/turns/turns.ts';
import { TestPlatform } from '../support/platform.ts';

const CUT_OFF_EVENTS: readonly string[] = [
  'llm.generation',
  'output.message.completed',
  'reason.completed',
  'turn.cancelled',
  'session.idled',
];

/** Turns that are ended, or whose model breaks off, while an answer is written; on whatever database there is. */
export function cutTurnsSuite(database: string, databaseUrl: () => Promise<string | undefined>): void {
  describe(`turns on ${database}`, () => {
    let one: TestPlatform;
    beforeEach(async () => {
      one = await TestPlatform.open({ databaseUrl: await databaseUrl() });
    });
    afterEach(() => one.close());

    test('that are cancelled keep what was written, with its usage, and their receipt counts the events that were kept', async () => {
      const session = await one.session();
      await one.send(session, 'say "marzipan and more" and wait 60000 ms between words');
      const { parts, worker } = one.service;
      await expect.poll(() => parts.deltas.answerSoFar(session.id)?.text).toContain('marzipan');
      await cancelTurn(parts, worker, await one.current(session), 'Enough.');
      await one.send(session, 'say "again"');
      await one.until(session);
      await one.closed();
      const events = await one.events(session);
      const end = events.findIndex(({ type }) => type === 'session.idled');
      const kept = events.slice(0, end + 1);
      expect(kept.slice(-5).map(({ type }) => type)).toEqual(CUT_OFF_EVENTS);
      const [generation, message, , ended] = kept.slice(-5).map(({ data }) => data);
      expect(generation).toMatchObject({ finish_reason: 'interrupted', usage: { estimated: true } });
      expect(message).toMatchObject({ partial: true, message: { parts: [{ kind: 'text', text: 'marzipan ' }] } });
      const { usage } = generation as { usage: { input_tokens: number; output_tokens: number } };
      expect(ended).toMatchObject({ usage: { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens, estimated: true } });
      const closes = one.facts.filter((fact) => fact.fact === 'close' && fact.status === 'cancelled');
      const counted = { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens, estimated: true };
      // The turn and its model call say the same.
      expect(closes.map((fact) => fact.fact === 'close' && fact.usage)).toEqual([
        expect.objectContaining(counted),
        expect.objectContaining(counted),
      ]);
      expect(closes.some((fact) => fact.fact === 'close' && fact.eventCount === kept.length)).toBe(true);
    });

    test('whose answers break off keep the last one, with the usage of all of them', async () => {
      const session = await one.session();
      await one.send(session, 'say "marzipan and more" and cut the stream');
      await one.until(session);
      await one.closed();
      const events = await one.events(session);
      expect(events.filter(({ type }) => type === 'reason.retrying')).toHaveLength(2);
      expect(events.slice(-5).map(({ type }) => type)).toEqual(CUT_OFF_EVENTS.with(3, 'turn.failed'));
      const [generation, message, , ended] = events.slice(-5).map(({ data }) => data);
      expect(message).toMatchObject({ partial: true });
      const { usage } = generation as { usage: { output_tokens: number } };
      expect(ended).toMatchObject({ usage: { output_tokens: 3 * usage.output_tokens, estimated: true } });
    });
  });
}
