import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LongTexts } from './long-texts.ts';

const PICTURE = 'QUJD'.repeat(30_000);
const frame = (value: unknown): Buffer => Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
const outOf = (texts: LongTexts, text: string): string => Buffer.concat(texts.bytesOf(text)).toString();

it.each([
  ['of Gemini', { candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: PICTURE } }] } }] }],
  ['of Responses', { type: 'response.completed', response: { output: [{ type: 'image_generation_call', result: PICTURE }] } }],
  ['of Chat, as an address', { choices: [{ delta: { images: [{ image_url: { url: `data:image/png;base64,${PICTURE}` } }] } }] }],
])('a picture %s is passed over and comes back in its place', (_, event) => {
  const texts = new LongTexts();
  const short = texts.take(frame(event)).toString();
  expect(short.length).toBeLessThan(500);
  expect(texts.bytes).toBe(PICTURE.length);
  expect(outOf(texts, short)).toBe(frame(event).toString());
  expect(texts.textOf(short)).toBe(frame(event).toString());
});

it('the kind of a picture stays where it can be read', () => {
  const short = new LongTexts().take(frame({ url: `data:image/png;base64,${PICTURE}` })).toString();
  expect(short).toMatch(/"url":"data:image\/png;base64,abpx[0-9a-f]{24}0{9}"/);
});

it.each([
  ['words', { choices: [{ delta: { content: PICTURE } }] }],
  ['arguments of a call', { candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: { data: PICTURE } } }] } }] }],
  ['a text with escapes', { data: `${PICTURE}\n${PICTURE}` }],
  ['a short text', { data: 'QUJD' }],
])('%s are read as they are', (_, event) => {
  expect(new LongTexts().take(frame(event)).equals(frame(event))).toBe(true);
});

it('a mark that somebody else wrote stands for nothing', () => {
  const texts = new LongTexts();
  texts.take(frame({ data: PICTURE }));
  expect(outOf(texts, `abpx${'0'.repeat(24)}0000`)).toBe(`abpx${'0'.repeat(24)}0000`);
});

it('whatever stands in an event, nothing of it is lost', () => {
  const member = fc.constantFrom('data', 'url', 'result', 'text', 'x"data');
  const text = fc.oneof(fc.string(), fc.constant(PICTURE), fc.constant(`data:a/b;base64,${PICTURE}`), fc.constant(`"data":"${PICTURE}"`));
  fc.assert(
    fc.property(fc.array(fc.tuple(member, text), { maxLength: 6 }), (members) => {
      const texts = new LongTexts();
      const whole = frame(members.map(([name, value]) => ({ [name]: value })));
      const short = texts.take(whole).toString();
      expect(JSON.parse(short.slice(6))).toHaveLength(members.length);
      expect(outOf(texts, short)).toBe(whole.toString());
    }),
    { numRuns: 100 },
  );
});
