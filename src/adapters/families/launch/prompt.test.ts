import { expect, it } from 'vitest';
import { attached } from '../../../../test/support/dialogue.ts';
import { promptText, promptWithTexts, systemPromptOf } from './prompt.ts';

it('joins the parts of a prompt as paragraphs', () => {
  expect(promptText({ agent: 'pi', prompt: ['one', 'two'] })).toBe('one\n\ntwo');
});

it('has the attached texts after the prompt, and nothing of other attachments', () => {
  const attachments = [attached('image', 'a.png'), attached('text', 'b.md', '# hi')];
  expect(promptWithTexts({ options: { agent: 'pi', prompt: 'look' }, attachments })).toBe(
    'look\n\n<attachment name="b.md">\n# hi\n</attachment>',
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
