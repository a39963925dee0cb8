import type { Specimen } from '../../base/specimen.ts';
import { Pairing } from './pairing.tsx';

const LOCAL = { principal: 'local', scopes: ['read'], expires_at: null, user: null, sign_in: null, recording: null, web_push: false };

export const states: readonly Specimen[] = [
  { name: 'before', shows: <Pairing /> },
  { name: 'for one of several people', shows: <Pairing />, answers: [[['users'], { items: [{ id: 'ada' }, { id: 'grace' }] }]] },
  { name: 'locked', shows: <Pairing />, answers: [[['session'], LOCAL]] },
];
