import { expect, it } from 'vitest';
import { namedSkills, skillPaths } from './skills.ts';

it('tells folders of skills from their names', () => {
  const options = { agent: 'a', prompt: 'p', skills: ['/s/fruit', './local', '~/mine', 'pdf'] };
  expect(skillPaths(options)).toEqual(['/s/fruit', './local', '~/mine']);
  expect(namedSkills(options)).toEqual(['pdf']);
});
