import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { ApiError, get } from '../../api/client.ts';
import type { LateEnd } from '../../api/types.ts';
import { cost, duration, whole } from '../../base/format.ts';
import { Button, ErrorBand } from '../../components/bits/bits.tsx';

/** The word of the run's own node; null where it has none. */
const lateEndQuery = (run: string) => ({
  queryKey: ['late-end', run],
  queryFn: async () => {
    try {
      return await get<LateEnd & { entry: number }>(`/v1/receipts/${run}/late-end`);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  },
  enabled: false,
  retry: false,
});

/**
 * A run that was closed as interrupted: by the server that found it after a crash, or by another node that took its own one for lost. That
 * one may have come back and said how the run really ended; it is asked when somebody wants to know.
 */
export function Late({ run }: { readonly run: string }): JSX.Element {
  const late = useQuery(lateEndQuery(run));
  return (
    <section className="panel late" aria-label="How it ended">
      <div className="ph">
        <h2 className="grow">Closed as interrupted: nobody saw its end</h2>
        <Button small acts onClick={() => void late.refetch()}>
          Ask its own node
        </Button>
      </div>
      <ErrorBand error={late.error} />
      {late.data === null ? <p className="pad note">Nothing is known beyond this receipt.</p> : null}
      {late.data === undefined || late.data === null ? null : <Said late={late.data} />}
    </section>
  );
}

function Said({ late }: { readonly late: LateEnd & { entry: number } }): JSX.Element {
  const { status, timing, usage, error } = late;
  return (
    <dl className="kv pad">
      <dt>its own node says</dt>
      <dd>
        {status}
        {error === null || error === undefined ? '' : `: ${error.code} ${error.message}`}
      </dd>
      <dt>took</dt>
      <dd>{timing?.last_byte_ms == null ? 'not known' : duration(timing.last_byte_ms)}</dd>
      <dt>tokens</dt>
      <dd>{usage == null ? 'none' : `${whole(usage.input_tokens)} in, ${whole(usage.output_tokens)} out`}</dd>
      <dt>cost</dt>
      <dd>{late.cost == null ? 'no price' : cost(late.cost.nano_usd)}</dd>
      <dt>hash of this in</dt>
      <dd>entry {whole(late.entry)} of its chain; the receipt stays as it was sealed</dd>
    </dl>
  );
}
