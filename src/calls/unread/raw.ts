import type { Readable } from 'node:stream';
import type { Dialect } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import type { Exchange } from '../../upstream/exchange.ts';
import type { Answer } from '../answers/answer.ts';
import { relay } from '../answers/relay.ts';
import type { CallContext } from '../context.ts';
import type { Deployment } from '../deployment.ts';
import { headerOf } from '../headers.ts';
import { openUnread, type UnreadCall } from './unread-call.ts';

/** Passes bytes both ways without looking at them; the body streams through and is never held. */
export function callRaw(context: CallContext, call: UnreadCall, body: Readable | null, answer: Answer): Exchange {
  const { admitted, recorder, deployment, request } = openUnread(context, call, 'raw');
  const dialect = countedBy(call.target.path, deployment);
  try {
    return relay(
      {
        ...request,
        method: call.method,
        headers: body === null ? request.headers : withLength(request.headers, call),
        body,
        runHex: call.runId.slice(4),
      },
      {
        admitted,
        deployment,
        dialect,
        holding: context.budget.holding(call.share),
        aside: (bytes, streamed) => context.large.observe(bytes, { dialect: dialect?.id, streamed, caller: call.share }),
        recorder,
        answer,
        onTaken: () => undefined,
        onFault: (error) => context.onFault(error, call.runId),
      },
    );
  } catch (error) {
    recorder.broke(error);
    throw error;
  }
}

/** Raw paths that are billed by the token, and the dialect whose answers tell the usage in the same words. */
const COUNTED: readonly (readonly [path: RegExp, dialect: string])[] = [
  [/\/responses\/compact$/, 'openai-responses'],
  [/\/embeddings$/, 'openai-chat'],
  [/\/interactions$/, 'gemini'],
];

function countedBy(path: string, { engine }: Deployment): Dialect | undefined {
  const dialect = COUNTED.find(([pattern]) => pattern.test(path))?.[1];
  return dialect !== undefined && engine.dialects.includes(dialect) ? findDialect(dialect) : undefined;
}

/** A streamed body keeps the length its sender declared; without one it is chunked. */
function withLength(headers: readonly string[], call: UnreadCall): readonly string[] {
  const length = headerOf(call.headers, 'content-length');
  return length === undefined ? headers : [...headers, 'content-length', length];
}
