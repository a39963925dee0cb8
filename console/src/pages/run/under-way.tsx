import type { JSX } from 'react';
import { isUnderWay } from '../../api/receipts.ts';
import type { Receipt } from '../../api/types.ts';
import { duration } from '../../base/format.ts';
import { Empty, useNow } from '../../components/bits/bits.tsx';

/** In place of a timeline: why there is none. */
export function NoTimes({ receipt }: { readonly receipt: Receipt }): JSX.Element {
  const underWay = isUnderWay(receipt);
  const now = useNow(underWay);
  if (underWay) {
    return (
      <p className="note pad">
        <i className="dot live" /> Under way for {duration(Math.max(0, now - Date.parse(receipt.started_at)))}. Where the time goes is known
        when it has ended.
      </p>
    );
  }
  if (receipt.reason === 'refused')
    return <p className="note pad">Nobody was called: the request was refused before anything was spent.</p>;
  return <p className="note pad">No answer came, so there are no times to show.</p>;
}

/** In place of what only the end of a call tells. */
export function Later(): JSX.Element {
  return (
    <Empty title="Under way">
      <p className="note">Bodies, events and tool calls can be read once the call has ended.</p>
    </Empty>
  );
}
