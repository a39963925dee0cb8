import { expect, it } from 'vitest';
import { promptText, promptWithPlaces, systemPromptOf } from './prompt.ts';

it('joins the parts of a prompt as paragraphs', () => {
  expect(promptText({ agent: 'pi', prompt: ['one', 'two'] })).toBe('one\n\ntwo');
});

it('names the places of what the agent opens itself', () => {
  expect(promptWithPlaces({ agent: 'pi', prompt: 'look' }, [{ filePath: '/a.png' }, { url: 'https://example.com/b.pdf' }])).toBe(
    'look\n\nAttached:\n- /a.png\n- https://example.com/b.pdf',
  );
});

it.each([
  [{ systemPrompt: 's' }, { after: 's' }],
  [{ systemPrompt: 's', systemPromptMode: 'prepend' }, { before: 's' }],
  [
    { systemPrompt: 's', systemPromptMode: 'replace', agentsDoc: 'd' },
    { replace: 's', after: 'd' },
  ],
  [{ systemPrompt: 's', agentsDoc: 'd' }, { after: 's\n\nd' }],
  [{}, {}],
] as const)('places %j', (options, placed) => {
  expect(systemPromptOf({ agent: 'pi', prompt: 'p', ...options })).toEqual(placed);
});
