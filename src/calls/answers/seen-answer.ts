import { SseFrames } from '../../base/sse.ts';
import type { Dialect, Observed } from '../../dialects/dialect.ts';

/** Facts for the receipt that we saw in an answer that passed unchanged. */
export interface SeenAnswer {
  readonly eventCount: number;
  readonly observed: Observed;
}

export const NOTHING_SEEN: Observed = { toolCalls: [] };

/** Reads an answer that is here as a whole. */
export function seenAnswer(body: Buffer, dialect: Dialect | undefined, streamed: boolean): SeenAnswer {
  if (!streamed) return { eventCount: 1, observed: dialect?.observeBody(body.toString('utf8')) ?? NOTHING_SEEN };
  const frames = new SseFrames();
  const observer = dialect?.observeStream();
  const all = [...frames.push(body), ...frames.flush()];
  for (const frame of all) observer?.frame(frame);
  return { eventCount: all.length, observed: observer?.done() ?? NOTHING_SEEN };
}
