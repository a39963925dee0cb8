import { parseJson } from '../../base/json.ts';
import { decodeSse, SseFrames } from '../../base/sse.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { Fold } from '../../ir/fold.ts';
import type { IrPart } from '../../ir/part.ts';
import type { IrResponse } from '../../ir/response.ts';
import { decodedBody } from '../../receipts/bodies/encoding.ts';

/** An answer as people read it: its text and tool calls; the body as it is where it is no answer of the dialect. */
export function answerText(dialect: Dialect | undefined, headers: readonly string[], body: Buffer): string {
  const text = decodedBody(body, headers);
  const streamed = headers.some((item) => item.toLowerCase().startsWith('text/event-stream'));
  try {
    const response = dialect === undefined ? undefined : streamed ? folded(dialect, text) : lifted(dialect, text);
    if (response !== undefined) return response.parts.flatMap(partText).join('\n');
  } catch {
    // An error of the engine, a token count or anything else that is not a message is compared as it stands.
  }
  return text.toString('utf8');
}

function folded(dialect: Dialect, body: Buffer): IrResponse | undefined {
  const frames = new SseFrames();
  const stepper = dialect.stepper();
  const fold = new Fold();
  for (const frame of [...frames.push(body), ...frames.flush()]) for (const event of stepper.step(decodeSse(frame))) fold.push(event);
  for (const event of stepper.end()) fold.push(event);
  return fold.response();
}

function lifted(dialect: Dialect, body: Buffer): IrResponse | undefined {
  const parsed = parseJson(body.toString('utf8'));
  return parsed.ok ? dialect.liftResponse(parsed.value) : undefined;
}

function partText(part: IrPart): string[] {
  if (part.kind === 'text') return [part.text];
  return part.kind === 'tool-call' ? [`call ${part.name} ${part.arguments}`] : [];
}
