import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanBody, spliceModel } from './scan.ts';

const scan = (text: string) => scanBody(Buffer.from(text, 'utf8'));
const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 2 });

/** An object that may have the members that matter, as text with odd spacing and sometimes with every character of a key escaped. */
const body = fc
  .tuple(
    fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 4 })),
    fc.record({ model: fc.oneof(fc.string({ unit: 'grapheme' }), fc.jsonValue()), stream: fc.jsonValue() }, { requiredKeys: [] }),
    fc.array(fc.tuple(space, space, fc.boolean()), { minLength: 1 }),
  )
  .map(([other, known, spacing]) => {
    const object: Record<string, unknown> = { ...other, ...known };
    const members = Object.entries(object).map(([key, value], at) => {
      const [before, after, escaped] = spacing[at % spacing.length] ?? ['', '', false];
      return `${before}${escaped ? escapedText(key) : JSON.stringify(key)}${after}:${before}${JSON.stringify(value, null, after)}${after}`;
    });
    return `${spacing[0]?.[0]}{${members.join(',')}}${spacing[0]?.[1]}`;
  });

function escapedText(key: string): string {
  return `"${[...Array(key.length).keys()].map((at) => `\\u${key.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
}

describe('scanBody', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(body, (text) => {
        const object = JSON.parse(text);
        const { model, stream } = scan(text);
        expect(model).toBe(typeof object.model === 'string' ? object.model : undefined);
        expect(stream).toBe(object.stream === true);
      }),
      { numRuns: 500 },
    );
  });

  it('finds its way through long strings, wherever escapes and quotes fall', () => {
    const piece = fc.constantFrom('x'.repeat(31), '\\"', '\\\\', '\\n', 'é', 'y'.repeat(16_384), ',"model":');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join('').replaceAll('"model"', '\\"model\\"');
        expect(scan(`{"messages":["${text}",{"a":"${text}"}],"model":"m","stream":true}`)).toMatchObject({ model: 'm', stream: true });
        expect(() => scan(`{"model":"m","text":"${text}`)).toThrow('a string is not closed');
      }),
    );
  });

  it('either reads garbage or refuses it as an invalid request', () => {
    const pieces = fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', '"model"', '"a"', 'true', '1', ' ', '\\u00', 'é');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        try {
          scan(text);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_request' });
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('decodes escapes in keys, so that a hidden model is found', () => {
    expect(scan('{"\\u006dodel":"a\\/b\\n\\ud83d\\ude00"}')).toMatchObject({ model: 'a/b\n😀' });
  });

  it.each(['{"model":"a","model":"b"}', '{"model":"a","\\u006dodel":"b"}', '{"a":1,"b":2,"a":3}'])('refuses a repeated key: %s', (text) => {
    expect(() => scan(text)).toThrow('is repeated');
  });

  it('looks at the top level only', () => {
    expect(scan('{"a":{"model":"inner","stream":true},"b":["model",{"stream":true}]}')).toMatchObject({ stream: false, naming: [] });
    expect(scan('{"a":{"model":"x"},"c":{"model":"y"},"model":"top"}')).toMatchObject({ model: 'top' });
  });

  it('is not fooled by brackets and quotes in strings', () => {
    expect(scan('{"a":"}]\\"{\\\\","b":["]",{"c":"}"}],"model":"m"}')).toMatchObject({ model: 'm' });
  });

  it.each([
    ['', 'not a JSON object'],
    ['[]', 'not a JSON object'],
    ['"model"', 'not a JSON object'],
    ['\ufeff{}', 'not a JSON object'],
    ['{', 'a member name is expected'],
    ['{"a"', 'a colon is expected'],
    ['{"a":', 'unexpected value'],
    ['{"a":1', 'unexpected byte'],
    ['{"a":1,}', 'a member name is expected'],
    ['{"a":nul}', 'unexpected value'],
    ['{"a":01}', 'unexpected value'],
    ['{"a":NaN}', 'unexpected value'],
    ['{"a":"b}', 'a string is not closed'],
    ['{"a":[1}', 'a bracket does not match'],
    ['{"a":[1,{"b":2}', 'the body ends inside a value'],
    ['{} {}', 'there is text after'],
    ["{'a':1}", 'a member name is expected'],
  ])('refuses %j because %s', (text, reason) => {
    expect(() => scan(text)).toThrow(reason);
  });

  it('takes 1000 levels and refuses more', () => {
    const nested = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(scan(nested(1000))).toMatchObject({ stream: false });
    expect(() => scan(nested(1001))).toThrow('nested deeper than 1000 levels');
  });
});

describe('spliceModel', () => {
  it('changes the model and no other byte', () => {
    const before = Buffer.from('{ "a": "é" ,\n"model" : "sim\\/x" , "b":[1.0] }');
    const { modelSpan } = scanBody(before);
    expect(spliceModel(before, modelSpan!, 'new "name"').toString()).toBe('{ "a": "é" ,\n"model" : "new \\"name\\"" , "b":[1.0] }');
  });
});
