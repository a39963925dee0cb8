import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JSX, useEffect, useState } from 'react';
import { receiptQuery } from '../../api/receipts.ts';
import type { Receipt, RunRow } from '../../api/types.ts';
import { bytes, cost, count, digest, duration, whole } from '../../base/format.ts';
import { Button, CopyId, StatusGlyph } from '../../components/bits/bits.tsx';
import { FateGlyph, FateStrip } from '../../components/fate/fate.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { RunTitle } from '../../components/run-line/run-line.tsx';
import { Legend, TimeBar, timesOf } from '../../components/time-bar/time-bar.tsx';

/** The last key may be followed by another: nothing is asked for before the hand rests. */
const REST_MS = 120;

function useRested<T>(value: T): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setRested(value), REST_MS);
    return () => window.clearTimeout(timer);
  }, [value]);
  return rested;
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
  readonly keyName: string;
  close(): void;
  open(): void;
  replay(): void;
  compare(): void;
}): JSX.Element {
  const { row } = props;
  const rested = useRested(row.run_id);
  const receipt = useQuery({ ...receiptQuery(rested), enabled: rested === row.run_id });
  return (
    <aside className="peek" aria-label="Peek">
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
          <span className="mute">{props.keyName === '' ? '' : `· key ${props.keyName}`}</span>
        </div>
        <div className="row acts">
          <Button look="primary" onClick={props.open} keys="↵">
            Open
          </Button>
          <Link className="btn" to="/playground" search={{ run: row.run_id }}>
            <Icon name="play" /> Playground
          </Link>
          <Button icon="replay" onClick={props.replay}>
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
      <div className="rest">
        {receipt.data === undefined || receipt.data.run_id !== row.run_id ? <Waiting /> : <Details receipt={receipt.data} />}
      </div>
      <div className="keys">
        {[
          ['J K', 'next, previous'],
          ['C', 'compare'],
          ['R', 'replay'],
          ['Y', 'copy id'],
          ['Esc', 'close'],
        ].map(([key, does]) => (
          <span key={key}>
            <kbd>{key}</kbd> {does}
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
          <TimeBar times={times} />
          <Legend times={times} />
        </div>
      )}
      <Losses receipt={receipt} />
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
  return (
    <div className="sec">
      <h2>
        <span className="grow">Fidelity</span>
        <FateStrip fates={fates} />
        <span className="mute">{fates.reduce((a, b) => a + b, 0)} fields</span>
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
