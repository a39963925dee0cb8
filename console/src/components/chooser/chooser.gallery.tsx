import type { Specimen } from '../../base/specimen.ts';
import { type Choice, Chooser } from './chooser.tsx';

const CHOICES: readonly Choice[] = [
  { id: '1', group: 'Runs', text: 'claude → gemini', hint: 'b41c90', act: () => undefined },
  { id: '2', group: 'Runs', text: `${'a very long prompt '.repeat(12)}`, hint: '77b41e', act: () => undefined },
  { id: '3', group: 'Do', icon: 'cmp', text: 'Compare 7a3fee with b41c90', hint: <kbd>C</kbd>, act: () => undefined },
];
const WORDS = { label: 'Find a run', placeholder: 'Run id, page, action', nothing: 'Nothing of that name.', onText: () => undefined };

export const states: readonly Specimen[] = [
  { name: 'with lines of two groups', floats: (close) => <Chooser {...WORDS} text="b41" choices={CHOICES} close={close} /> },
  { name: 'with nothing', floats: (close) => <Chooser {...WORDS} text="zzz" choices={[]} close={close} /> },
];
