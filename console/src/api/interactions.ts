import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { InteractionList, Interaction as Shape } from '../../../src/gateway/api/interactions.ts';
import { get, send } from './client.ts';

export type Interaction = z.infer<typeof Shape>;
export type Interactions = z.infer<typeof InteractionList>;

/** Everything that waits for somebody; the stream of the inbox keeps it fresh where the inbox is open. */
export const interactionsQuery = queryOptions({
  queryKey: ['interactions', 'open'],
  queryFn: () => get<Interactions>('/v1/interactions?state=open'),
  refetchInterval: 5000,
  retry: false,
});

export const answeredQuery = queryOptions({
  queryKey: ['interactions', 'answered'],
  queryFn: () => get<Interactions>('/v1/interactions?state=answered'),
  refetchInterval: 15_000,
  retry: false,
});

/** Gives the answer in the words of whichever plane asked. */
export async function answer(item: Interaction, approve: boolean, reason: string): Promise<void> {
  if (item.kind === 'input') {
    await send('POST', item.answer.path, { text: reason });
    return;
  }
  const words = reason === '' ? {} : { reason };
  const note = reason === '' ? {} : { note: reason };
  const body =
    item.session_id === null
      ? { approve, ...(approve ? {} : words) }
      : { decision: approve ? 'approve' : 'deny', ...(approve ? {} : note) };
  await send('POST', item.answer.path, body);
}
