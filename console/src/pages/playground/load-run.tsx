import { useQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { shortId, time } from '../../base/format.ts';
import { type Choice, Chooser } from '../../components/chooser/chooser.tsx';
import { recordingsQuery } from './data.ts';

/** Recorded runs, newest first; the chosen one's request comes into the editor. */
export function LoadRun({ choose, close }: { choose(run: string): void; close(): void }): JSX.Element {
  const [text, setText] = useState('');
  const recordings = useQuery(recordingsQuery);
  const wanted = text.trim().toLowerCase();
  const choices = (recordings.data?.items ?? [])
    .filter(({ run_id: run, model, engine, dialect }) => `${run} ${dialect} ${engine} ${model}`.toLowerCase().includes(wanted))
    .map(
      ({ run_id: run, started_at: at, dialect, engine, model, redacted }): Choice => ({
        id: run,
        group: 'Recorded requests',
        text: (
          <>
            <span className="md">
              {dialect ?? 'unknown'} → {engine ?? 'nobody'}
            </span>{' '}
            <code className="mute">{model}</code> {redacted ? <span className="warn s">redacted</span> : null}
          </>
        ),
        hint: `${time(at)} ${shortId(run)}`,
        act: () => {
          close();
          choose(run);
        },
      }),
    );
  return (
    <Chooser
      label="Load a run"
      placeholder="Run id, dialect, engine or model"
      text={text}
      choices={choices}
      nothing={
        recordings.error === null ? 'No recorded run of that name. What is recorded is decided by key and route.' : recordings.error.message
      }
      onText={setText}
      close={close}
    />
  );
}
