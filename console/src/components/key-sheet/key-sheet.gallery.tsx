import type { Specimen } from '../../base/specimen.ts';
import { KeySheet } from './key-sheet.tsx';

export const states: readonly Specimen[] = [{ name: 'all keys', floats: (close) => <KeySheet close={close} /> }];
