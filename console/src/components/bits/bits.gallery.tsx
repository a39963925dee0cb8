import { ApiError, OfflineError } from '../../api/client.ts';
import type { Specimen } from '../../base/specimen.ts';
import { Button, CopyId, Empty, ErrorBand, Keys, Locked, Segmented, Select, StatusGlyph } from './bits.tsx';

const nothing = (): void => undefined;
const away = [[['ready'], new OfflineError('The server cannot be reached.')]] as const;
const refused = new ApiError(403, { error: { code: 'permission_denied', message: 'This browser may not read keys.' } }, 'req_01a1');

export const states: readonly Specimen[] = [
  {
    name: 'buttons',
    shows: (
      <p className="row">
        <Button look="primary" keys="A">
          Approve
        </Button>
        <Button icon="replay" keys="R">
          Replay
        </Button>
        <Button small>Small</Button>
        <Button look="quiet">Quiet</Button>
        <Button locked="the recording was redacted">Locked</Button>
        <Button disabled>Disabled</Button>
      </p>
    ),
  },
  { name: 'a button that acts while the server is away', shows: <Button acts>Verify all</Button>, answers: away },
  {
    name: 'one of a few',
    shows: (
      <Segmented
        label="Fates"
        value="all"
        options={[
          ['all', 'All 21'],
          ['changes', 'Changes'],
          ['losses', 'Losses'],
        ]}
        onChange={nothing}
      />
    ),
  },
  {
    name: 'one of many',
    shows: <Select label="Engine" value="claude" options={['claude', 'gemini'].map((name) => [name, name] as const)} onChange={nothing} />,
  },
  {
    name: 'how a run stands',
    shows: (
      <p className="row">
        {['completed', 'running', 'failed', 'cancelled', 'archived', 'deleted'].map((status) => (
          <span key={status} className="row">
            <StatusGlyph status={status} waiting={false} /> {status}
          </span>
        ))}
        <span className="row">
          <StatusGlyph status="running" waiting /> waits
        </span>
      </p>
    ),
  },
  {
    name: 'keys, and an id to copy',
    shows: (
      <p className="row">
        <Keys keys="G R" /> <CopyId text="run_01a1e125ae8c7069a12b2a7f1a7a3fee" />
      </p>
    ),
  },
  { name: 'an error of the server', shows: <ErrorBand error={refused} retry={nothing} /> },
  { name: 'no server', shows: <ErrorBand error={new OfflineError('The server cannot be reached.')} retry={nothing} /> },
  { name: 'locked', shows: <Locked what="Letting a phone in" /> },
  {
    name: 'empty',
    shows: (
      <Empty title="Nothing waits">
        <p className="note">Questions of coding agents come here.</p>
      </Empty>
    ),
  },
];
