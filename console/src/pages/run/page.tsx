import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { JSX } from 'react';
import { rowQuery } from '../../api/queries.ts';
import { isCall, receiptQuery, stubOf } from '../../api/receipts.ts';
import type { Receipt } from '../../api/types.ts';
import { shortId } from '../../base/format.ts';
import { Empty, ErrorBand } from '../../components/bits/bits.tsx';
import { CallPage } from './call.tsx';
import { CodingPage } from './coding.tsx';
import { RemovedPage } from './removed.tsx';
import './page.css';
import './coding.css';
import './run.css';

/** One run, below what went wrong when it was last asked for: a run under way is asked for again and again, and what is known stays. */
export function Page(): JSX.Element {
  const { run = '' } = useParams({ strict: false });
  const { data, error, refetch } = useQuery(receiptQuery(run));
  return (
    <>
      <ErrorBand error={error} retry={() => void refetch()} />
      {data === undefined ? <Unknown run={run} reading={error === null} /> : <Known run={run} receipt={data} />}
    </>
  );
}

function Unknown({ run, reading }: { readonly run: string; readonly reading: boolean }): JSX.Element {
  return (
    <>
      <h1 className="sr">Run {shortId(run)}</h1>
      <Empty title={reading ? 'Reading the receipt' : 'There is nothing to show of this run.'}>
        <Link className="u" to="/runs">
          All runs
        </Link>
      </Empty>
    </>
  );
}

/** A call, or the run of a coding agent or of a turn, which is made of calls. */
function Known({ run, receipt }: { readonly run: string; readonly receipt: Receipt }): JSX.Element {
  const stub = stubOf(receipt);
  if (stub !== undefined) return <RemovedPage stub={stub} />;
  if (receipt.plane === undefined) return <Begun run={run} receipt={receipt} />;
  return isCall(receipt) ? <CallPage receipt={receipt} /> : <CodingPage run={run} receipt={receipt} />;
}

/** For its first moments the receipt of a run does not say of which plane it is; its line does. */
function Begun({ run, receipt }: { readonly run: string; readonly receipt: Receipt }): JSX.Element {
  const { data: row } = useQuery(rowQuery(run));
  if (row === undefined || row === null || isCall(row)) return <Unknown run={run} reading />;
  return <CodingPage run={run} receipt={receipt} />;
}
