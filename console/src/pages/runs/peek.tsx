import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JSX, useEffect, useState } from 'react';
import { readAnswer } from '../../api/answer.ts';
import { receiptQuery, recordingQuery, stubOf, textOfAnswer, ticksOf } from '../../api/receipts.ts';
import type { Receipt, RunRow } from '../../api/types.ts';
import { bytes, cost, count, day, digest, duration, whole } from '../../base/format.ts';
import { useRested } from '../../base/use-rested.ts';
import { Button, CopyId, Keys, StatusGlyph } from '../../components/bits/bits.tsx';
import { FateGlyph, FateStrip } from '../../components/fate/fate.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { RunTitle } from '../../components/run-line/run-line.tsx';
import { Legend, TimeBar, timesOf } from '../../components/time-bar/time-bar.tsx';
import { keyOf } from './list.tsx';

/** The last key may be followed by another: nothing is asked for before the hand rests. */
const REST_MS = 120;

/** What the receipt says, or that it says nothing any more. */
function Known({ receipt }: { readonly receipt: Receipt }): JSX.Element {
  const stub = stubOf(receipt);
  if (stub === undefined) return <Details receipt={receipt} />;
  return (
    <div className="sec">
      <p>
        {stub.status} on {day(stub.removed_at)}
      </p>
      <p className="note">
        Sealed as entry {whole(stub.seal.sequence)}; entry {whole(stub.removal)} says that its content was removed.
      </p>
    </div>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }): JSX.Element {
  return (
    <div>
      <span>{name}</span>
      <b>{value}</b>
    </div>
  );
}

/** What a run was, in short. The head comes from the line itself, so that it follows the keys without a question to the server. */
export function Peek(props: {
  readonly row: RunRow;
  /** The rows that J comes to next; their receipts are fetched ahead of time. */
  readonly ahead: readonly (RunRow | undefined)[];
  close(): void;
  open(): void;
  replay(): void;
  compare(): void;
}): JSX.Element {
  const { row } = props;
  const rested = useRested(row.run_id, REST_MS);
  const receipt = useQuery({ ...receiptQuery(rested), enabled: rested === row.run_id });
  const client = useQueryClient();
  const ahead = props.ahead.map((next) => next?.run_id ?? '').join(' ');
  useEffect(() => {
    // A neighbour that cannot be read now is read when it is looked at.
    if (receipt.data !== undefined) for (const id of ahead.split(' ')) if (id !== '') void client.prefetchQuery(receiptQuery(id));
  }, [client, ahead, receipt.data]);
  const { width, grip } = useWidth();
  const keyName = keyOf(row);
  return (
    <aside className="peek" aria-label="Peek" style={{ width }}>
      {grip}
      <div className="h">
        <div className="row">
          <StatusGlyph status={row.status} waiting={row.waiting} />
          <b className="grow el">
            <RunTitle row={row} />
          </b>
          <button type="button" className="ib" onClick={props.close} aria-label="close the peek">
            <Icon name="x" />
          </button>
        </div>
        <div className="row s">
          <code className="mute">{`${row.run_id.slice(0, 16)}…${row.run_id.slice(-10)}`}</code>
          <CopyId text={row.run_id} />
          {keyName === '' ? null : (
            <span className="mute">
              · key <b className="md ink">{keyName}</b>
            </span>
          )}
        </div>
        <div className="row acts">
          <Button look="primary" onClick={props.open} keys="↵">
            Open
          </Button>
          <Link className="btn" to="/playground" search={{ run: row.run_id }}>
            <Icon name="play" /> Playground
          </Link>
          <Button acts icon="replay" onClick={props.replay}>
            Replay
          </Button>
          <Button icon="cmp" onClick={props.compare}>
            Compare
          </Button>
        </div>
      </div>
      <div className="sec facts">
        <Fact name="First byte" value={row.first_byte_ms === null ? '–' : duration(row.first_byte_ms)} />
        <Fact name="Total" value={row.total_ms === null ? 'running' : duration(row.total_ms)} />
        <Fact name="Tokens in / out" value={row.tokens === null ? '–' : `${count(row.tokens.in)} / ${count(row.tokens.out)}`} />
        <Fact name="Cost" value={row.tokens === null && row.cost_nano_usd === null ? '–' : cost(row.cost_nano_usd)} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys */}
      <section className="rest" aria-label="Details of the run" tabIndex={0}>
        {receipt.data === undefined || receipt.data.run_id !== row.run_id ? <Waiting /> : <Known receipt={receipt.data} />}
      </section>
      <div className="keys">
        {[
          ['J K', 'next, previous'],
          ['C', 'compare'],
          ['R', 'replay'],
          ['Y', 'copy id'],
          ['Esc', 'close'],
        ].map(([key = '', does]) => (
          <span key={does}>
            <Keys keys={key} /> {does}
          </span>
        ))}
      </div>
    </aside>
  );
}

function Waiting(): JSX.Element {
  return (
    <div className="sec" aria-hidden="true">
      <i className="skeleton" />
    </div>
  );
}

function Details({ receipt }: { readonly receipt: Receipt }): JSX.Element {
  const times = timesOf(receipt);
  const recording = useQuery(recordingQuery(receipt));
  const ticks = ticksOf(recording.data);
  return (
    <>
      {receipt.error === null || receipt.error === undefined ? null : (
        <div className="sec bad">
          <h2>
            <a href={`/docs/errors/${receipt.error.code}`}>{receipt.error.code}</a>
          </h2>
          {receipt.error.message}
        </div>
      )}
      {times === undefined ? null : (
        <div className="sec">
          <h2>Where the time went</h2>
          <TimeBar times={times} ticks={ticks} />
          <Legend times={times} ticks={ticks} />
        </div>
      )}
      <Losses receipt={receipt} />
      <Answer receipt={receipt} />
      {receipt.seal === null || receipt.seal === undefined ? null : (
        <div className="sec">
          <p className="ok md">
            <Icon name="seal" size={16} /> Sealed as entry {whole(receipt.seal.sequence)}
          </p>
          <dl className="kv m">
            {receipt.request === null ? null : (
              <Pair name="caller sent" value={`${bytes(receipt.request.bytes)} · ${digest(receipt.request.sha256)}`} />
            )}
            {receipt.upstream_request === null ? null : (
              <Pair name="engine got" value={`${bytes(receipt.upstream_request.bytes)} · ${digest(receipt.upstream_request.sha256)}`} />
            )}
            {receipt.receipt_sha256 === null ? null : <Pair name="content" value={digest(receipt.receipt_sha256)} />}
          </dl>
        </div>
      )}
    </>
  );
}

const MOST_ANSWER = 400;

/** The answer in short, where bodies are kept: what was said, or the tool that was called. */
function Answer({ receipt }: { readonly receipt: Receipt }): JSX.Element | null {
  const recording = useQuery(recordingQuery(receipt));
  if (receipt.response === null || receipt.response === undefined) return null;
  const told = recording.data?.delivered ?? recording.data?.response;
  const read = told === null || told === undefined ? undefined : readAnswer(textOfAnswer(told));
  const { usage } = receipt;
  const thinking = usage !== null && usage.thinking_tokens > 0 ? `, ${whole(usage.thinking_tokens)} of them thinking` : '';
  return (
    <div className="sec">
      <h2>Answer</h2>
      {read === undefined ? <p className="note mute">{recording.isLoading ? '…' : 'not recorded'}</p> : null}
      {read?.text ? <p className="said">{read.text.slice(0, MOST_ANSWER)}</p> : null}
      {read?.tools.map(({ name, input }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a call is its place
        <p key={index} className="said">
          Calls <code>{name}</code> with <code>{input.slice(0, MOST_ANSWER)}</code>
        </p>
      ))}
      {usage === null ? null : (
        <p className="note mute">
          {read !== undefined && read.tools.length > 0 ? 'stops for a tool call · ' : ''}
          {whole(usage.output_tokens)} tokens{thinking}
        </p>
      )}
    </div>
  );
}

const WIDTH = 'abp.peek-width';
const LEAST = 320;
const MOST = 900;

/** The width of the pane, remembered in this browser, and what changes it: a line to drag, or to move by arrows. */
function useWidth(): { readonly width: number; readonly grip: JSX.Element } {
  const [width, setWidth] = useState(() => Number(localStorage.getItem(WIDTH) ?? 452));
  const resize = (to: number): void => {
    const next = Math.round(Math.max(LEAST, Math.min(MOST, to)));
    localStorage.setItem(WIDTH, String(next));
    setWidth(next);
  };
  const grip = (
    <div
      className="grip"
      role="separator"
      tabIndex={0}
      aria-label="Width of the peek"
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) resize(window.innerWidth - event.clientX);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
        event.stopPropagation();
        resize(width + (event.key === 'ArrowLeft' ? 20 : -20));
      }}
    />
  );
  return { width, grip };
}

function Pair({ name, value }: { readonly name: string; readonly value: string }): JSX.Element {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

/** Only what did not arrive as it was. */
function Losses({ receipt }: { readonly receipt: Receipt }): JSX.Element | null {
  const entries = receipt.fidelity ?? [];
  if (entries.length === 0) return null;
  const losses = entries.filter(({ fate }) => fate !== 'exact' && fate !== 'renamed');
  const many = (name: string): number => entries.filter(({ fate }) => fate === name).reduce((sum, entry) => sum + (entry.count ?? 1), 0);
  const fates: RunRow['fates'] = [many('exact'), many('renamed'), many('emulated'), many('dropped'), many('refused')];
  const total = fates.reduce((a, b) => a + b, 0);
  return (
    <div className="sec">
      <h2>
        <span className="grow">Fidelity</span>
        <FateStrip fates={fates} />
        <span className="mute">{total === 1 ? '1 field' : `${total} fields`}</span>
      </h2>
      <div className="loss">
        {losses.slice(0, 12).map(({ path, fate, note }) => (
          <div key={`${path}${fate}`} className="lossrow">
            <FateGlyph fate={fate} word />
            <code className="el" title={note}>
              {path}
            </code>
          </div>
        ))}
      </div>
      <p className="note mute">
        {losses.length === 0 ? '' : 'and '}
        {fates[0]} exact, {fates[1]} renamed
      </p>
    </div>
  );
}
