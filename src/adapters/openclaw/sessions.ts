import type { SessionRule } from '../adapter.ts';

export const sessions: SessionRule = {
  kind: 'none',
  reason: 'a one-shot run of openclaw removes its state when it ends',
};
