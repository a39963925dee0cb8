import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { JSX } from 'react';
import { receiptQuery, stubOf } from '../../api/receipts.ts';
import { Empty, ErrorBand } from '../../components/bits/bits.tsx';
import { CallPage } from './call.tsx';
import { CodingPage } from './coding.tsx';
import { RemovedPage } from './removed.tsx';
import './page.css';
import './coding.css';
import './run.css';

/** One run: a call, or the run of a coding agent or of a turn, which is made of calls. */
export function Page(): JSX.Element {
  const { run = '' } = useParams({ strict: false });
  const receipt = useQuery(receiptQuery(run));
  if (receipt.error !== null) return <ErrorBand error={receipt.error} retry={() => void receipt.refetch()} />;
  if (receipt.data === undefined) return <Empty title="Reading the receipt" />;
  const stub = stubOf(receipt.data);
  if (stub !== undefined) return <RemovedPage stub={stub} />;
  // While a run goes on, its receipt does not yet say of which plane it is.
  if (receipt.data.plane === undefined || receipt.data.plane !== 'gateway') return <CodingPage run={run} receipt={receipt.data} />;
  return <CallPage receipt={receipt.data} />;
}
