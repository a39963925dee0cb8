import { SseFrames } from '../../base/sse.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Dialect, Observed, ObservedToolCall, StreamObserver } from '../../dialects/dialect.ts';
import { EngineFailure } from '../../ir/engine-failure.ts';
import type { IrResponse } from '../../ir/response.ts';
import { quoted } from './engine-stream.ts';

/** Facts for the receipt that we saw in an answer that passed unchanged. */
export interface SeenAnswer {
  readonly eventCount: number;
  readonly observed: Observed;
}

/** Reads what an answer tells of its use: a dialect, or what knows answers of another shape. */
export interface AnswerReader extends Pick<Dialect, 'id' | 'observeBody' | 'observeStream'> {
  /** Its answers may be words or sounds as well as JSON. */
  readonly plain?: true;
  /** Its answers are read line by line, however long they are. */
  readonly observeLines?: () => StreamObserver;
}

export const NOTHING_SEEN: Observed = { toolCalls: [] };

/** Reads an answer that is here as a whole. */
export function seenAnswer(body: Buffer, reader: AnswerReader | undefined, streamed: boolean): SeenAnswer {
  if (!streamed) return { eventCount: 1, observed: reader === undefined ? NOTHING_SEEN : whole(body.toString('utf8'), reader) };
  const frames = new SseFrames();
  const observer = reader?.observeStream();
  const all = [...frames.push(body), ...frames.flush()];
  for (const frame of all) observer?.frame(frame);
  return { eventCount: all.length, observed: observer?.done() ?? NOTHING_SEEN };
}

/** A page or plain words in place of an answer are a failure, whatever the status says. */
function whole(body: string, reader: AnswerReader): Observed {
  const said = body.replace(/^\uFEFF/, '');
  if (reader.plain !== true && /^\s*[^\s{[]/.test(said))
    return { toolCalls: [], error: `The engine's answer is not JSON but: ${quoted(said)}` };
  try {
    return reader.observeBody(said);
  } catch (error) {
    if (error instanceof EngineFailure) return { toolCalls: [], error: error.error.message };
    // Nested deeper than code can walk, or of no shape that we know. The answer passes as it is; its usage stays unknown, as that of one too large to be read.
    if (error instanceof RangeError || AbpError.is(error)) return NOTHING_SEEN;
    throw error;
  }
}

/** The facts for the receipt in an answer that was read as a whole. */
export function observedOf(response: IrResponse): Observed {
  return {
    model: response.model,
    usage: response.usage,
    finish: response.finish,
    toolCalls: response.parts.flatMap((part): ObservedToolCall[] =>
      part.kind === 'tool-call' ? [{ id: part.id, name: part.name, arguments: part.arguments }] : [],
    ),
  };
}
