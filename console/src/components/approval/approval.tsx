import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JSX, type RefObject, useEffect, useRef, useState } from 'react';
import { get } from '../../api/client.ts';
import { answer, type Interaction } from '../../api/interactions.ts';
import { sessionQuery } from '../../api/queries.ts';
import { cost, limit, shortId, waiting } from '../../base/format.ts';
import { Button, useNow } from '../bits/bits.tsx';
import { Diff } from '../diff/diff.tsx';
import { replacement } from '../diff/replacement.ts';
import { Icon } from '../icon/icon.tsx';
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

/** How a question was closed: by somebody, or because its run ended. */
export type Closed = NonNullable<Interaction['answered']> | 'ended';

export interface ApprovalProps {
  readonly item: Interaction;
  readonly selected: boolean;
  /** Stands below what it is about, so that it need not say that again. */
  readonly pinned?: boolean;
  readonly locked?: string | undefined;
  readonly closed?: Closed | undefined;
}

/** What is known about a wish, as people say it. */
const FACTS: Readonly<Record<string, string>> = {
  ...{ runs_command: 'runs a command', writes: 'writes files', writes_outside: 'writes outside the folder' },
  ...{ reads_outside: 'reads outside the folder', network: 'uses the network', secrets: 'touches secrets' },
  interrupted_before: 'was interrupted before',
};

/** A question with everything that is needed to answer it: who, what exactly, why, where, and what it cost so far. */
export function Approval({ item, selected, pinned = false, locked, closed }: ApprovalProps): JSX.Element {
  const card = useRef<HTMLElement>(null);
  const seen = useSeen(card);
  const now = useNow(closed === undefined);
  useEffect(() => {
    if (selected && !pinned) card.current?.scrollIntoView({ block: 'nearest' });
  }, [selected, pinned]);
  const wish = wishOf(item);
  const diff = wish.diff === null ? '' : replacement(wish.diff.before, wish.diff.after);
  const classes = `approval${selected && !pinned ? ' on' : ''}${pinned ? ' asks' : ''}${closed === undefined ? '' : ' closed'}`;
  return (
    <article ref={card} className={classes} aria-label={`${item.agent} ${wish.words}`} data-id={item.answer.path}>
      <div className="t" data-edge="top">
        <i className={closed === undefined ? 'dot warn' : 'dot off'} />
        <b>{item.agent}</b> <span>{wish.words}</span>
        {wish.path === null ? null : <code className="el">{wish.path}</code>}
        {diff === '' ? null : <Sums diff={diff} />}
        {wish.tag === null ? null : <span className="tag">{wish.tag}</span>}
        {item.facts.map((fact) => (
          <span key={fact} className="risk">
            {FACTS[fact] ?? fact.replaceAll('_', ' ')}
          </span>
        ))}
        <span className="grow" />
        <span className="s nw mute">
          {closed === undefined ? 'waits' : 'waited'} {waiting(endOf(closed, now) - Date.parse(item.asked_at))}
        </span>
      </div>
      {pinned ? null : (
        <div className="w">
          {item.title}
          {item.run_id === null ? null : <code> · {shortId(item.run_id)}</code>}
        </div>
      )}
      <div className="x">{diff === '' ? <WishBody item={item} /> : <Diff text={diff} />}</div>
      {pinned ? null : <Why item={item} />}
      {closed === undefined ? (
        <Answers {...{ item, seen, pinned, locked }} first={selected} />
      ) : (
        <p className="ac s">{closedWords(closed)}</p>
      )}
    </article>
  );
}

/** Until when it waited: until now, or until somebody answered. */
const endOf = (closed: Closed | undefined, now: number): number =>
  closed === undefined || closed === 'ended' ? now : Date.parse(closed.at);

function closedWords(closed: Closed): string {
  if (closed === 'ended') return 'The run ended meanwhile; nothing is asked any more.';
  return `${closed.decision} by ${closed.by}, ${closed.via}${closed.reason === null ? '' : `: “${closed.reason}”`}`;
}

function Sums({ diff }: { readonly diff: string }): JSX.Element {
  const many = (sign: string): number => diff.split('\n').filter((line) => line.startsWith(sign)).length;
  return (
    <code className="nw">
      <span className="ok">+{many('+')}</span> <span className="bad">−{many('-')}</span>
    </code>
  );
}

function Why({ item: { cwd, last_words: said } }: { readonly item: Interaction }): JSX.Element | null {
  if (cwd === null && said === null) return null;
  return (
    <div className="w">
      {cwd === null ? null : (
        <>
          in <code>{cwd}</code>
        </>
      )}
      {said === null ? null : `${cwd === null ? '' : ' · '}said before: “${said.slice(-280)}”`}
    </div>
  );
}

interface AnswersProps {
  readonly item: Interaction;
  readonly seen: boolean;
  readonly pinned: boolean;
  readonly first: boolean;
  readonly locked: string | undefined;
}

/** Yes, or no with a reason that the agent reads. There is no way to say yes to a card that has not been passed. */
function Answers({ item, seen, pinned, first, locked }: AnswersProps): JSX.Element {
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const [asksReason, setAsksReason] = useState(pinned);
  const [failure, setFailure] = useState<string | null>(null);
  const [armed, setArmed] = useState(false);
  const isQuestion = item.kind === 'input';
  const say = (approve: boolean): void => {
    if (approve && !seen && !armed && !isQuestion) {
      setArmed(true);
      window.setTimeout(() => setArmed(false), SECOND_MS);
      return;
    }
    setFailure(null);
    answer(item, approve, reason).then(
      () => client.invalidateQueries({ queryKey: ['interactions'] }),
      (error: unknown) => setFailure(error instanceof Error ? error.message : String(error)),
    );
  };
  const look = first ? { look: 'primary' as const } : {};
  return (
    <>
      {failure === null ? null : (
        <p className="w bad" role="alert">
          {failure}
        </p>
      )}
      <div className="ac" data-edge="end">
        <Button acts {...look} {...(first ? { keys: 'A' } : {})} locked={locked} data-answer="yes" onClick={() => say(true)}>
          {isQuestion ? 'Answer' : armed ? 'Tap again to approve' : 'Approve'}
        </Button>
        {isQuestion ? null : (
          <Button
            acts
            {...(first ? { keys: 'D' } : {})}
            locked={locked}
            data-answer="no"
            onClick={() => (asksReason ? say(false) : setAsksReason(true))}
          >
            Deny
          </Button>
        )}
        {asksReason || isQuestion ? (
          <input
            // biome-ignore lint/a11y/noAutofocus: it was asked for by the button beside it
            autoFocus={!pinned && !isQuestion}
            aria-label={isQuestion ? 'Your answer' : 'Reason, if denied'}
            placeholder={isQuestion ? 'Your answer' : 'Reason, if denied: the agent reads it'}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter') say(isQuestion);
              if (event.key === 'Escape' && !pinned) setAsksReason(false);
            }}
          />
        ) : (
          <span className="mute s hide-s hint">Deny asks for a reason the agent will read</span>
        )}
        <span className="grow" />
        <span className="s mute nw">{item.cost_nano_usd === null ? '' : budgetWords(item)}</span>
        {pinned ? null : <Exit item={item} first={first} />}
      </div>
    </>
  );
}

function Exit({ item, first }: { readonly item: Interaction; readonly first: boolean }): JSX.Element | null {
  const key = first ? <kbd>O</kbd> : null;
  if (item.run_id !== null) {
    return (
      <Link className="btn q" data-exit="run" to="/runs/$run" params={{ run: item.run_id }}>
        Open run {key}
      </Link>
    );
  }
  return item.session_id === null ? null : <SessionExit session={item.session_id} first={first} />;
}

/** A session is a page of its agent. A browser that may only answer has none of agents. */
function SessionExit({ session, first }: { readonly session: string; readonly first: boolean }): JSX.Element | null {
  const may = useQuery(sessionQuery).data?.scopes.includes('agents') === true;
  const owner = useQuery({
    queryKey: ['agent-of', session],
    queryFn: () => get<{ agent_id: string }>(`/v1/sessions/${session}`),
    enabled: may,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (owner.data === undefined) return null;
  return (
    <Link className="btn q" data-exit="session" to="/agents/$agent/sessions/$session" params={{ agent: owner.data.agent_id, session }}>
      <Icon name="agent" /> Open session {first ? <kbd>O</kbd> : null}
    </Link>
  );
}

function budgetWords({ cost_nano_usd, budget_nano_usd }: Interaction): string {
  return budget_nano_usd === null ? cost(cost_nano_usd) : `${cost(cost_nano_usd)} of ${limit(budget_nano_usd)}`;
}
