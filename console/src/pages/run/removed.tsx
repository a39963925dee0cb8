import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { get } from '../../api/client.ts';
import type { ReceiptStub } from '../../api/types.ts';
import { day, exactTime, time, whole } from '../../base/format.ts';
import { Button, ErrorBand } from '../../components/bits/bits.tsx';
import { HeadRow, StatusTag } from './head.tsx';

interface Verified {
  readonly ok: boolean;
  readonly problems: readonly { readonly code: string; readonly message: string }[];
}

const verifiedQuery = (run: string) => ({
  queryKey: ['verified', run],
  queryFn: () => get<Verified>(`/v1/receipts/${run}/verify`),
  enabled: false,
  retry: false,
});

/** A run whose content was removed: its hash and its place in the chain stay, so that everybody can see that something stood here. */
export function RemovedPage({ stub }: { readonly stub: ReceiptStub }): JSX.Element {
  const verified = useQuery(verifiedQuery(stub.run_id));
  const [problem] = verified.data?.problems ?? [];
  return (
    <div className="p-run fill">
      <div className="hd">
        <HeadRow title={`${stub.status} on ${day(stub.removed_at)}`} run={stub.run_id} tags={<StatusTag status={stub.status} />} />
      </div>
      <div className="removed">
        <p>
          What this run said and did is no longer kept here. Its hash and its place stay in the chain, and entry {whole(stub.removal)} says
          that it was taken out on purpose.
        </p>
        <dl className="kv">
          <dt>started</dt>
          <dd>
            {exactTime(stub.started_at)} {day(stub.started_at)}
          </dd>
          <dt>removed</dt>
          <dd>
            {time(stub.removed_at)} {day(stub.removed_at)}, entry {whole(stub.removal)}
          </dd>
          <dt>sealed as entry</dt>
          <dd>{whole(stub.seal.sequence)}</dd>
          <dt>hash of the entry</dt>
          <dd className="m">{stub.seal.hash}</dd>
          <dt>hash of the content</dt>
          <dd className="m">{stub.receipt_sha256}</dd>
          <dt>node</dt>
          <dd className="m">{stub.node}</dd>
        </dl>
        <ErrorBand error={verified.error} />
        <div className="row">
          <Button acts icon="seal" onClick={() => void verified.refetch()}>
            Verify its place
          </Button>
          {verified.data === undefined ? null : (
            <output className={verified.data.ok ? 'ok' : 'bad'}>
              {verified.data.ok ? 'Its place in the chain holds, checked by the server' : `${problem?.code}: ${problem?.message}`}
            </output>
          )}
        </div>
      </div>
    </div>
  );
}
