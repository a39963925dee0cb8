import { z } from 'zod';
import { RecordingLine } from '../../contract/receipts/recording.ts';

export const BodyParams = z.strictObject({ run_id: z.string() });

export const RequestQuery = z.strictObject({
  side: z.enum(['caller', 'engine']).default('caller').describe('The request as the caller sent it, or as the engine got it.'),
});

export const ResponseQuery = z.strictObject({
  side: z.enum(['caller', 'engine']).default('engine').describe('The answer as the engine sent it, or as the caller got it.'),
});

const Digest = z.strictObject({ sha256: z.string(), bytes: z.int() });

export const RecordingView = z.strictObject({
  run_id: z.string(),
  started_at: z.string(),
  engine: z.string().nullable(),
  model: z.string().nullable(),
  dialect: z.string().nullable(),
  path: z.string(),
  status: z.int().nullable().describe('HTTP status of the engine; null when it gave none.'),
  request: Digest,
  response: Digest.nullable(),
  replayable: z.boolean(),
  redacted: z.boolean().describe('A secret was removed from a body.'),
  key_id: z.string().nullable(),
  tags: z.array(z.string()),
  node: z.string().describe('The node that has the bodies.'),
});
export type RecordingView = z.infer<typeof RecordingView>;

export const RecordingList = z.strictObject({ items: z.array(RecordingView), next_cursor: z.string().optional() });

const filters = {
  key: z.string().min(1).optional(),
  tag: z.string().min(1).optional(),
  engine: z.string().min(1).optional(),
};

export const RecordingListQuery = z.strictObject({
  ...filters,
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  cursor: z.string().optional(),
});

/** Erasing everything is not something to do by leaving a filter out. */
export const EraseQuery = z
  .strictObject({ ...filters, all: z.enum(['true']).optional().describe('Every recording of the caller.') })
  .refine((query) => Object.values(query).some((value) => value !== undefined), { error: 'give key, tag, engine or all=true' });

export const Erased = z.strictObject({
  erased: z.int().describe('Runs whose bodies are gone.'),
  elsewhere: z
    .int()
    .describe(
      'Runs that fit and whose bodies another node has, which is away: nobody reads them any more, and it erases them when it is back.',
    ),
});

export const ReplayRequest = z
  .strictObject({
    engine: z.string().max(128).optional().describe('The engine, or engine:dialect; default: that of the run.'),
    model: z.string().min(1).max(512).optional().describe('The model that the engine gets; default: the one in the request.'),
    serve: z.enum(['recorded']).optional().describe('recorded: the engine replay serves what was recorded; nobody is called.'),
  })
  .refine(({ engine, model, serve }) => serve === undefined || (engine === undefined && model === undefined), {
    error: 'serve takes neither engine nor model',
  });
export type ReplayRequest = z.output<typeof ReplayRequest>;

export const Replayed = z.strictObject({
  run_id: z.string().describe('The new run.'),
  of: z.string().describe('The run whose request it sent.'),
});

export { RecordingLine };
