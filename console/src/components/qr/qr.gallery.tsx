import type { Specimen } from '../../base/specimen.ts';
import { Qr } from './qr.tsx';

export const states: readonly Specimen[] = [
  { name: 'a link of one time', shows: <Qr text="https://backplane.example/inbox#code=XJ4-TK2-9QW" /> },
];
