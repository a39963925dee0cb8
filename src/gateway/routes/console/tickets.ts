import { z } from 'zod';
import { isoTime } from '../../../base/clock.ts';
import { Reply } from '../../reply.ts';
import { defineRoute } from '../../route.ts';

const NewTicket = z.strictObject({
  path: z
    .string()
    .regex(/^\/[^/\s#]\S*$/, { error: 'must be a path of this server, such as /v1/runs/stream' })
    .max(2048)
    .describe('The address on this server that the ticket opens, with its query, e.g. /v1/receipts/stream.'),
});

const TicketGiven = z.strictObject({
  ticket: z.string().describe('Append it to the address as ?ticket= or &ticket=.'),
  expires_at: z.iso.datetime(),
});

export const ticketRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/tickets',
    summary: 'A ticket that opens one address once, as its caller: for EventSource and WebSocket of browsers, which can send no header.',
    body: NewTicket,
    response: TicketGiven,
    handle: ({ gateway, principal, whoCalls, body }) => {
      const { ticket, expiresAt } = gateway.browsers.tickets.give(body.path, principal, whoCalls);
      return new Reply(201, { ticket, expires_at: isoTime(expiresAt) }, { 'cache-control': 'no-store' });
    },
  }),
];
