import { expect, it } from 'vitest';
import { type ModelPlace, namedModels } from './named-models.ts';
import { scanBody } from './scan.ts';

function named(body: unknown, place: ModelPlace = 'body'): readonly string[] | 'unknown' {
  const text = Buffer.from(JSON.stringify(body));
  return namedModels(text, scanBody(text), place);
}

it.each([
  [{ model: 'a', messages: [] }, []],
  [{ model: 'a', models: ['b', 'c'] }, ['b', 'c']],
  [{ model: 'a', fallbacks: [{ model: 'b' }, { models: ['c'] }] }, ['b', 'c']],
  [{ model: 'a', fallback_models: 'b' }, ['b']],
  [
    {
      model: 'a',
      tools: [
        { type: 'image_generation', model: 'b' },
        { name: 't', input_schema: { properties: { model: {} } } },
      ],
    },
    ['b'],
  ],
  [{ model: 'a', prompt: 'once upon a time' }, []],
  [{ model: 'a', prompt: { id: 'pmpt_1' } }, 'unknown'],
  [{ prompt: { id: 'pmpt_1' } }, 'unknown'],
  [{ messages: [] }, 'unknown'],
  [{ model: ['a'] }, 'unknown'],
  [{ model: null }, 'unknown'],
  [{ model: 'a', tools: ['x'.repeat(600_000)] }, 'unknown'],
])('%j names %j beside its model', (body, models) => {
  expect(named(body)).toEqual(models);
});

it('does not tell which models a body names where an object has a member twice', () => {
  const text = Buffer.from('{"model":"a","fallbacks":[{"model":"b","model":"c"}]}');
  expect(namedModels(text, scanBody(text), 'body')).toBe('unknown');
});

it('a model in the path does not hide the one in the body, and a translation writes its own', () => {
  expect(named({ contents: [] }, 'path')).toEqual([]);
  expect(named({ model: 'models/b', contents: [] }, 'path')).toEqual(['b']);
  expect(named({ messages: [] }, 'written')).toEqual([]);
});
