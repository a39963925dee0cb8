import { z } from 'zod';
import { keysOf } from '../base/json.ts';
import { ERRORS } from './errors.ts';
import { JsonRecord } from './json-value.ts';

// The keys of a literal object are its codes; Object.keys widens them to string.
const codes = keysOf(ERRORS);

/** The body of every error of our own; dialects put it inside what their SDK expects. */
export const ErrorBody = z.strictObject({
  error: z
    .strictObject({
      code: z.enum(codes).describe('The code of the error table.'),
      type: z.string().describe('The name that belongs to the code.'),
      message: z.string().describe('What is wrong, for people.'),
      details: JsonRecord.describe('What a program can act on; documentation_url leads to the page of the code.'),
      request_id: z.string().describe('req_ and the hex of the run.'),
      timestamp: z.iso.datetime({ offset: true }).describe('When the error was written.'),
      retryable: z.boolean().describe('Whether the same request may succeed later.'),
    })
    .describe('The error.'),
});
export type ErrorBody = z.infer<typeof ErrorBody>;
