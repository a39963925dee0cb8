import { expect, it } from 'vitest';
import { needing, reasonIn } from './needs.ts';

it('a name carries the reason why it does not run here, and gives it back from any depth', () => {
  expect(needing('Python', undefined)).toBe('Python');
  expect(reasonIn(`${needing('Python', 'needs bubblewrap [bwrap]')} > reads a file`)).toBe('needs bubblewrap [bwrap]');
  expect(reasonIn(`a suite > ${needing('a test', 'needs git')}`)).toBe('needs git');
  expect(reasonIn('a suite > a test')).toBeUndefined();
});
