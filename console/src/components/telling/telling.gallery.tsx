import type { Session } from '../../api/types.ts';
import type { Specimen } from '../../base/specimen.ts';
import { Telling } from './telling.tsx';

const SESSION: Session = {
  principal: 'paired',
  scopes: ['read', 'answer'],
  expires_at: '2026-11-19T09:00:00.000Z',
  user: null,
  sign_in: null,
  recording: null,
  web_push: true,
};

const WHY = ['operator', 'nobody', 'insecure', 'unsupported', 'denied', 'off', 'on'] as const;

export const states: readonly Specimen[] = WHY.map((why) => ({
  name: why,
  shows: <Telling />,
  answers: [
    [['session'], SESSION],
    [['telling', SESSION], why],
  ],
}));
