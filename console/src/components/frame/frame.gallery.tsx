import { OfflineError } from '../../api/client.ts';
import type { Specimen } from '../../base/specimen.ts';
import { StatusLine } from './status-line.tsx';

export const states: readonly Specimen[] = [
  { name: 'all is well', shows: <StatusLine /> },
  { name: 'the server cannot be reached', shows: <StatusLine />, answers: [[['ready'], new OfflineError('gone')]] },
  {
    name: 'the chain was cut, and the database is away',
    shows: <StatusLine />,
    answers: [[['ready'], { status: 'degraded', database: 'away', journal: 'ok', chain: 'cut' }]],
  },
  {
    name: 'a caller who is not signed in and may sign in',
    shows: <StatusLine />,
    answers: [
      [
        ['session'],
        { principal: 'local', scopes: ['read'], expires_at: null, user: null, sign_in: '/sign-in', recording: null, web_push: false },
      ],
    ],
  },
];
