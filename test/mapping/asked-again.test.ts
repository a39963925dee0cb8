import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';

// A program asks again where its SDK thinks that it helps, and the SDK goes by the status. What the SDK of the engine's vendor would try
// again must not look final to the SDK of the caller.

/** What Anthropic's and OpenAI's SDKs try again by themselves, in their versions of 2026-11. */
const RETRIED = [408, 409, 429, 500, 502, 503, 504, 529];

/** Bodies of errors that say no more than the status does. */
const BODIES: Readonly<Record<string, (status: number) => object>> = {
  claude: () => ({ type: 'error', error: { message: 'not now' } }),
  'openai-chat': () => ({ error: { message: 'not now', type: null, param: null, code: null } }),
  'openai-responses': () => ({ error: { message: 'not now', type: null, param: null, code: null } }),
  gemini: (code) => ({ error: { code, message: 'not now' } }),
  kimi: () => ({ error: { message: 'not now' } }),
  copilot: () => ({ error: { message: 'not now', code: '' } }),
};

describe.each(dialects)('a failure of an engine that speaks $id', (engine) => {
  test.each(dialects.filter(({ id }) => id !== engine.id))(
    'is worth another try to callers of $id where it was one at its vendor',
    (caller) => {
      const final = RETRIED.filter((status) => {
        const bodies = [JSON.stringify(BODIES[engine.id]?.(status)), '<html>'];
        return bodies.some((body) => {
          const error = engine.liftError(status, {}, body);
          return !RETRIED.includes(caller.lowerError(error, { requestId: 'req_1' }).status);
        });
      });
      expect(final).toEqual([]);
    },
  );
});
