import { expect, test } from 'vitest';
import type { Principal } from '../auth/principal.ts';
import { Tickets } from './tickets.ts';

test('a caller who asks for many tickets loses its own oldest ones, and nobody else’s', () => {
  const tickets = new Tickets();
  const [theirs, greedy]: readonly Principal[] = [{ kind: 'token' }, { kind: 'local' }];
  const kept = tickets.give('/v1/runs/stream', theirs ?? expect.fail(), () => theirs ?? expect.fail());
  const given = Array.from(
    { length: 500 },
    () => tickets.give('/v1/runs/stream', greedy ?? expect.fail(), () => greedy ?? expect.fail()).ticket,
  );
  expect(tickets.redeem(kept.ticket, 'GET', '/v1/runs/stream')()).toEqual(theirs);
  expect(tickets.redeem(given.at(-1) ?? '', 'GET', '/v1/runs/stream')()).toEqual(greedy);
  expect(() => tickets.redeem(given[0] ?? '', 'GET', '/v1/runs/stream')).toThrow(/used before or is too old/);
});
