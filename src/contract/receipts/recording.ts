import { z } from 'zod';

const text = z.string();
const count = z.int().nonnegative();
const runId = text.regex(/^run_[0-9a-f]{32}$/, 'must be run_ and 32 lower-case hex digits');
const headers = z.array(z.tuple([text, text])).describe('Names and values in their order; no credentials.');

/** Name of the format; another one is another format. */
export const RECORDING_FORMAT = 'abp-recording/1';

const PlainBody = z.strictObject({ text: text.describe('The bytes as UTF-8, where they are valid UTF-8.') });
const BinaryBody = z.strictObject({ base64: text.describe('The bytes, where they are anything else.') });

/** A body: as text where it is text. */
export const BodyText = z.union([PlainBody, BinaryBody]);
export type BodyText = z.infer<typeof BodyText>;

const at = count.describe('Microseconds after the request arrived.');

export const RequestText = z.strictObject({
  dialect: text.nullable().describe('The dialect of the path.'),
  method: text.describe('HTTP method.'),
  path: text.describe('Path and query as the vendor knows them, without credentials.'),
  headers,
  body: BodyText.describe('The body as it was sent.'),
});
export type RequestText = z.infer<typeof RequestText>;

export const AnswerText = z.strictObject({
  status: z.int().describe('HTTP status.'),
  headers,
  trailers: headers,
  at_us: at.describe('When the headers came, in microseconds after the request.'),
  complete: z.boolean().describe('Whether the answer came to its end.'),
  chunks: z
    .array(z.union([PlainBody.extend({ at_us: at }), BinaryBody.extend({ at_us: at })]))
    .describe('The body in the pieces in which it came.'),
});
export type AnswerText = z.infer<typeof AnswerText>;

/** One recorded run with its bodies: a line of a file of recordings. */
export const RecordingLine = z.strictObject({
  format: z.literal(RECORDING_FORMAT).describe('The format of this line.'),
  run_id: runId.describe('The run that was recorded.'),
  started_at: z.iso.datetime({ offset: true }).describe('When its request arrived.'),
  engine: text.nullable().describe('The engine that served it.'),
  model: text.nullable().describe('The model the engine was asked for.'),
  replayable: z.boolean().describe('Whether it can be served again byte for byte.'),
  redacted: z.boolean().describe('Whether a secret was removed from a body.'),
  request: RequestText.describe('What the caller sent.'),
  sent: RequestText.nullable().describe('What the engine got, where that is something else.'),
  response: AnswerText.nullable().describe('What the engine answered.'),
  delivered: AnswerText.nullable().describe('What the caller got, where that is something else.'),
});
export type RecordingLine = z.infer<typeof RecordingLine>;
