import type { Specimen } from '../../base/specimen.ts';
import { Palette } from './palette.tsx';

export const states: readonly Specimen[] = [
  { name: 'pages and actions', floats: (close) => <Palette close={close} showKeys={() => undefined} /> },
];
