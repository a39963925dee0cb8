import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX, ReactNode } from 'react';
import { keysQuery, sessionQuery } from '../../api/queries.ts';
import { isUnderWay } from '../../api/receipts.ts';
import type { Receipt } from '../../api/types.ts';
import { cost, day, duration, exactTime, shortId, whole } from '../../base/format.ts';
import { Button, CopyId } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';

const TONES: Readonly<Record<string, readonly [string, string]>> = {
  completed: ['ok', 'check'],
  failed: ['bad', 'refused'],
  refused: ['bad', 'refused'],
  cancelled: ['mute', 'x'],
  archived: ['mute', 'file'],
  deleted: ['mute', 'x'],
};

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): JSX.Element {
  return (
    <span>
      <em>{name}</em> <b>{children}</b>
    </span>
  );
}

/** How a run stands, as a tag. */
export function StatusTag({ status, waiting = false }: { readonly status: string; readonly waiting?: boolean }): JSX.Element {
  const [tone, icon] = waiting ? ['warn', 'clock'] : (TONES[status] ?? ['live', 'clock']);
  return (
    <span className={`tag status ${tone}`}>
      {icon === 'clock' ? <i className={waiting ? 'dot warn' : 'dot live'} /> : <Icon name={icon} size={12} />}{' '}
      {waiting ? 'waits for you' : status}
    </span>
  );
}

interface HeadRowProps {
  readonly title: ReactNode;
  readonly run: string;
  /** The id in few digits, where the title needs the width. */
  readonly short?: boolean;
  readonly tags: ReactNode;
  /** What can be done with the run. */
  readonly children?: ReactNode;
}

/** The first line of every page of a run: its title, how it stands, its id, and what can be done with it. */
export function HeadRow({ title, run, short = false, tags, children }: HeadRowProps): JSX.Element {
  return (
    <div className="row">
      <Link to="/runs" className="mute hide-s">
        Runs
      </Link>
      <span className="mute hide-s">/</span>
      <h1 className="el">{title}</h1>
      {tags}
      <code className={short ? 'mute hide-s' : 'mute el yields'}>{short ? shortId(run) : run}</code>
      <CopyId text={run} />
      <span className="grow" />
      {children === undefined ? null : <div className="row acts">{children}</div>}
    </div>
  );
}

/** The key of a caller by its name, where this browser may read keys. */
function KeyFact({ id }: { readonly id: string }): JSX.Element {
  const may = useQuery(sessionQuery).data?.scopes.includes('settings') === true;
  const keys = useQuery({ ...keysQuery, enabled: may });
  return <Fact name="key">{keys.data?.items.find((key) => key.id === id)?.name ?? `…${id.slice(-6)}`}</Fact>;
}

export interface CallActions {
  playground(): void;
  replay(): void;
  compare(): void;
}

/** Who called whom, how it stands, and one line of facts. */
export function CallHead({ receipt, actions }: { readonly receipt: Receipt; readonly actions: CallActions }): JSX.Element {
  // Refused before anybody was called: nobody served it, and nothing was spent.
  const refused = receipt.reason === 'refused';
  const underWay = isUnderWay(receipt);
  return (
    <div className="hd">
      <HeadRow
        title={receipt.plane === 'agent' ? receipt.task : `${receipt.dialect ?? 'unknown'} → ${receipt.engine ?? 'nobody'}`}
        run={receipt.run_id}
        tags={
          <>
            <StatusTag status={refused ? 'refused' : receipt.status} />
            {receipt.mode === null ? null : (
              <span className={`tag status ${receipt.mode === 'mapped' ? 'live' : 'ok'}`}>
                <Icon name={receipt.mode === 'mapped' ? 'map' : 'pass'} size={12} /> {receipt.mode}
              </span>
            )}
          </>
        }
      >
        <Button icon="play" keys="P" onClick={actions.playground}>
          Open in Playground
        </Button>
        <Button
          acts
          icon="replay"
          keys="R"
          onClick={actions.replay}
          locked={underWay ? 'the call is under way' : receipt.replayable ? undefined : 'the recording was redacted or not kept'}
        >
          Replay
        </Button>
        <Button icon="cmp" keys="C" onClick={actions.compare}>
          Compare
        </Button>
      </HeadRow>
      <Facts receipt={receipt} refused={refused} />
    </div>
  );
}

function Facts({ receipt, refused }: { readonly receipt: Receipt; readonly refused: boolean }): JSX.Element {
  const { usage, timing, model, parent_run_id: parent } = receipt;
  return (
    <div className="meta">
      <Fact name="asked for">
        <code>{model.requested ?? '–'}</code>
      </Fact>
      {refused ? null : (
        <Fact name="served by">
          <code>{model.upstream ?? '–'}</code>
        </Fact>
      )}
      {timing.first_byte_ms === null ? null : <Fact name="first byte">{duration(timing.first_byte_ms)}</Fact>}
      {timing.last_byte_ms === null ? null : <Fact name="total">{duration(timing.last_byte_ms)}</Fact>}
      {usage === null ? null : (
        <Fact name="tokens">
          {whole(usage.input_tokens)} in, {whole(usage.output_tokens)} out
          {usage.thinking_tokens > 0 ? ` (${whole(usage.thinking_tokens)} thinking)` : ''}
        </Fact>
      )}
      {isUnderWay(receipt) ? null : (
        <Fact name="cost">{receipt.cost !== null ? cost(receipt.cost.nano_usd) : refused ? 'nothing spent' : 'no price'}</Fact>
      )}
      {(parent ?? null) === null ? null : (
        <Fact name="asked by">
          <Link className="u m" to="/runs/$run" params={{ run: parent ?? '' }}>
            {shortId(parent ?? '')}
          </Link>
        </Fact>
      )}
      {receipt.key_id === null ? null : <KeyFact id={receipt.key_id} />}
      {receipt.tags.length === 0 ? null : <Fact name="tags">{receipt.tags.join(', ')}</Fact>}
      <Fact name="started">
        {exactTime(receipt.started_at)} {day(receipt.started_at)}
      </Fact>
    </div>
  );
}
