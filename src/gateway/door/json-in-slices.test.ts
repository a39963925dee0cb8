import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseJson } from '../../base/json.ts';
import { jsonInSlices } from './json-in-slices.ts';

const joined = (written: string | Buffer[]): string => (typeof written === 'string' ? written : Buffer.concat(written).toString());
const whole = async (body: unknown): Promise<string> => joined(await jsonInSlices(body));

it('writes what JSON.stringify writes', async () => {
  const anything = fc.anything({ maxDepth: 7, withDate: true, withNullPrototype: true, withSparseArray: true, withBoxedValues: true });
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.array(anything), fc.dictionary(fc.string(), anything)), async (body) => {
      expect(await whole(body)).toBe(JSON.stringify(body));
    }),
  );
});

it.each([null, 5, true, new Date(0), new Map([[1, 2]]), { a: undefined, b: () => 1, c: [undefined] }])(
  'writes %j likewise',
  async (body) => {
    expect(await whole(body)).toBe(JSON.stringify(body));
  },
);

it('keeps the digits of exact numbers', async () => {
  const text = '{"items":[{"n":12345678901234567890}]}';
  const parsed = parseJson(text);
  expect(await whole(parsed.ok && parsed.value)).toBe(text);
});

it('lets others go on while it writes a long list, or one long list of a receipt', async () => {
  const calls = Array.from({ length: 300_000 }, (_, id) => ({ id: `call_${id}`, name: 'Read' }));
  for (const body of [calls, { tool_calls: calls }, { items: [{ tool_calls: calls }] }]) {
    const parts = await jsonInSlices(body);
    expect(parts.length).toBeGreaterThan(2);
    expect(joined(parts)).toBe(JSON.stringify(body));
  }
});
