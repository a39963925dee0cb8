import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JSX, type RefObject, useEffect, useRef, useState } from 'react';
import { answer, type Interaction } from '../../api/interactions.ts';
import { cost, shortId, waiting } from '../../base/format.ts';
import { Button, useNow } from '../bits/bits.tsx';
import { Diff, replacement } from '../diff/diff.tsx';
import { WishBody, wishOf } from './wish.tsx';
import './approval.css';

/** A second tap is asked for when the card has not been seen whole; it must come within this time. */
const SECOND_MS = 3000;

/** Whether the whole card has been on the screen. */
function useSeen(card: RefObject<HTMLElement | null>): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const element = card.current;
    if (element === null) return undefined;
    const parts = new Set<string>();
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries)
        if (entry.isIntersecting && entry.target instanceof HTMLElement) parts.add(entry.target.dataset.edge ?? '');
      if (parts.has('top') && parts.has('end')) setSeen(true);
    });
    for (const edge of element.querySelectorAll('[data-edge]')) watch.observe(edge);
    return () => watch.disconnect();
  }, [card]);
  return seen;
}

export interface ApprovalProps {
  readonly item: Interaction;
  readonly selected: boolean;
  readonly locked?: string | undefined;
}

/** A question with everything that is needed to answer it: who, what exactly, why, where, and what it cost so far. */
export function Approval({ item, selected, locked }: ApprovalProps): JSX.Element {
  const card = useRef<HTMLElement>(null);
  const seen = useSeen(card);
  const now = useNow(true);
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const [failure, setFailure] = useState<string | null>(null);
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    if (selected) card.current?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  const say = (approve: boolean): void => {
    if (approve && !seen && !armed) {
      setArmed(true);
      window.setTimeout(() => setArmed(false), SECOND_MS);
      return;
    }
    answer(item, approve, reason).then(
      () => client.invalidateQueries({ queryKey: ['interactions'] }),
      (error: unknown) => setFailure(error instanceof Error ? error.message : String(error)),
    );
  };
  const wish = wishOf(item);
  return (
    <article ref={card} className={selected ? 'approval on' : 'approval'} aria-label={`${item.agent} ${wish.words}`} data-id={item.id}>
      <div className="t" data-edge="top">
        <i className="dot warn" />
        <b>{item.agent}</b> <span>{wish.words}</span> {wish.tag === null ? null : <span className="tag">{wish.tag}</span>}
        {item.facts.map((fact) => (
          <span key={fact} className="risk">
            {fact.replaceAll('_', ' ')}
          </span>
        ))}
        <span className="grow" />
        <span className="s nw mute">waits {waiting(now - Date.parse(item.asked_at))}</span>
      </div>
      <div className="w">
        {item.title}
        {item.run_id === null ? null : <code> · {shortId(item.run_id)}</code>}
      </div>
      <div className="x">
        {wish.diff === null ? <WishBody item={item} /> : <Diff text={replacement(wish.diff.before, wish.diff.after)} />}
      </div>
      {item.cwd === null && item.last_words === null ? null : (
        <div className="w">
          {item.cwd === null ? null : (
            <>
              in <code>{item.cwd}</code>
            </>
          )}
          {item.last_words === null ? null : <> · said before: “{item.last_words.slice(-280)}”</>}
        </div>
      )}
      {failure === null ? null : (
        <p className="w bad" role="alert">
          {failure}
        </p>
      )}
      <div className="ac" data-edge="end">
        <Button look="primary" keys="A" locked={locked} onClick={() => say(true)}>
          {armed ? 'Tap again to approve' : 'Approve'}
        </Button>
        <Button keys="D" locked={locked} onClick={() => say(false)}>
          Deny
        </Button>
        <input
          aria-label="Reason, if denied"
          placeholder="Reason, if denied: the agent reads it"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <span className="s mute nw">{item.cost_nano_usd === null ? '' : budgetWords(item)}</span>
        {item.run_id === null ? null : (
          <Link className="btn q" to="/runs/$run" params={{ run: item.run_id }}>
            Open run <kbd>O</kbd>
          </Link>
        )}
      </div>
    </article>
  );
}

function budgetWords({ cost_nano_usd, budget_nano_usd }: Interaction): string {
  return budget_nano_usd === null ? cost(cost_nano_usd) : `${cost(cost_nano_usd)} of ${cost(budget_nano_usd)}`;
}
