import type { Specimen } from '../../base/specimen.ts';
import { SideBySide } from './side-by-side.tsx';

const lines = (at: string): string =>
  Array.from({ length: 40 }, (_, line) => (line === 20 ? `line ${line} ${at}` : `line ${line}`)).join('\n');

export const states: readonly Specimen[] = [
  { name: 'one line differs, the rest is folded', shows: <SideBySide label="Two answers" left={lines('one')} right={lines('two')} /> },
  { name: 'equal', shows: <SideBySide label="Two equal answers" left="the same" right="the same" /> },
];
