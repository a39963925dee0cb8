import { useQuery } from '@tanstack/react-query';
import { type JSX, useEffect, useRef, useState } from 'react';
import { answeredQuery, type Interaction, interactionsQuery } from '../../api/interactions.ts';
import { sessionQuery } from '../../api/queries.ts';
import { useRefresh } from '../../api/refresh.ts';
import { useStream } from '../../api/streams.ts';
import { hourMinute } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { Approval, type Closed } from '../../components/approval/approval.tsx';
import { Empty, ErrorBand, Keys } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { Telling } from '../../components/telling/telling.tsx';

const KEYS = [
  ['J K', 'move'],
  ['A', 'approve'],
  ['D', 'deny'],
  ['O', 'open'],
] as const;

/** A card that somebody else answered, or whose run ended, says so for this long. */
const FADE_MS = 4000;

interface ClosedEvent {
  readonly id: string;
  readonly run_id: string | null;
  readonly session_id: string | null;
  readonly answered: NonNullable<Interaction['answered']> | null;
}

/** Two runs may ask under the same id. */
const placeOf = ({ id, run_id, session_id }: Pick<Interaction, 'id' | 'run_id' | 'session_id'>): string => `${run_id ?? session_id}/${id}`;

interface Gone {
  readonly item: Interaction;
  readonly closed: Closed;
}

/** Questions that were closed a moment ago. */
function useGone(items: readonly Interaction[]): { readonly gone: readonly Gone[]; leave(event: ClosedEvent): void } {
  const known = useRef(new Map<string, Interaction>());
  for (const item of items) known.current.set(placeOf(item), item);
  const [gone, setGone] = useState<readonly Gone[]>([]);
  const timers = useRef<number[]>([]);
  useEffect(() => {
    const { current } = timers;
    return () => {
      for (const timer of current) window.clearTimeout(timer);
    };
  }, []);
  const leave = (event: ClosedEvent): void => {
    const place = placeOf(event);
    const item = known.current.get(place);
    if (item === undefined) return;
    known.current.delete(place);
    setGone((before) => [...before, { item, closed: event.answered ?? 'ended' }]);
    timers.current.push(window.setTimeout(() => setGone((before) => before.filter((one) => placeOf(one.item) !== place)), FADE_MS));
  };
  return { gone: gone.filter(({ item }) => !items.some((open) => placeOf(open) === placeOf(item))), leave };
}

/** Every open question, oldest first. There is no way to approve all of them. */
export function Inbox(): JSX.Element {
  const open = useQuery(interactionsQuery);
  const session = useQuery(sessionQuery);
  const [at, setAt] = useState(0);
  const refresh = useRefresh([['interactions']]);
  const items = open.data?.items ?? [];
  const { gone, leave } = useGone(items);
  const live = useStream('/v1/interactions/stream', {
    'interaction.asked': refresh,
    'interaction.closed': (data) => {
      leave(JSON.parse(data) as ClosedEvent); // a line of the server's own stream
      refresh();
    },
  });
  const current = items[Math.min(at, items.length - 1)];
  const may = session.data?.scopes.includes('answer') === true;
  const pressed = (what: string): void =>
    document.querySelector<HTMLElement>(`[data-id="${CSS.escape(current?.answer.path ?? '')}"] ${what}`)?.click();
  const press = (which: 'yes' | 'no') => (): void => pressed(`[data-answer="${which}"]`);
  useKeys({
    j: () => setAt(Math.min(at + 1, items.length - 1)),
    k: () => setAt(Math.max(at - 1, 0)),
    a: press('yes'),
    d: press('no'),
    o: () => pressed('a[data-exit]'),
  });
  return (
    <section className="in" aria-label="Inbox">
      <div className="hd">
        <h1>{items.length === 0 ? 'Nobody waits for you' : `${items.length} ${items.length === 1 ? 'waits' : 'wait'} for you`}</h1>
        <span className="mute s">{items.length === 0 ? '' : 'oldest first'}</span>
        {live.live || live.since === null ? null : <span className="bad s">not live since {hourMinute(live.since)}</span>}
        <span className="grow" />
        {KEYS.map(([keys, does]) => (
          <span key={does} className="mute s hide-s nw">
            <Keys keys={keys} /> {does}
          </span>
        ))}
      </div>
      <output className="sr" aria-live="assertive">
        {items.length > 0 ? `${items.length} wait for you` : ''}
      </output>
      <ErrorBand error={open.error} retry={refresh} />
      <div className="cards scroll">
        {gone.map(({ item, closed }) => (
          <Approval key={placeOf(item)} item={item} selected={false} closed={closed} />
        ))}
        {items.map((item, index) => (
          <Approval
            key={placeOf(item)}
            item={item}
            selected={index === Math.min(at, items.length - 1)}
            locked={may ? undefined : 'this needs a signed-in browser: abp console prints a link'}
          />
        ))}
        {items.length === 0 && !open.isPending ? (
          <Empty title="Nothing waits">
            <p className="note">Questions of coding agents started with approval prompt, and of agents whose tools ask first, come here.</p>
          </Empty>
        ) : null}
        <Answered />
        <Telling />
      </div>
    </section>
  );
}

/** The tool and its object: a command, a file, or the arguments as they are. */
function wordOf(item: Interaction): string {
  const { input, tool } = item;
  const named = ['command', 'file_path', 'path'].map((name): unknown =>
    typeof input === 'object' && input !== null ? Reflect.get(input, name) : null,
  );
  const object = named.find((value) => typeof value === 'string') ?? (typeof input === 'string' ? input : JSON.stringify(input));
  return `${tool ?? ''} ${String(object)}`;
}

function Answered(): JSX.Element | null {
  const answered = useQuery(answeredQuery);
  const today = new Date().toDateString();
  const items = (answered.data?.items ?? []).filter((item) => new Date(item.answered?.at ?? 0).toDateString() === today);
  if (items.length === 0) return null;
  return (
    <section aria-label="Answered today">
      <h2 className="answered">
        Answered today <span className="mute">since this server started</span>
      </h2>
      {items.slice(0, 30).map((item) => (
        <div key={`${item.id}${item.answered?.at}`} className="hrow">
          <span className="m mute">{hourMinute(item.answered?.at ?? 0)}</span>
          <span className={item.answered?.decision === 'denied' ? 'bad' : 'ok'}>
            <Icon name={item.answered?.decision === 'denied' ? 'refused' : 'check'} /> {item.answered?.decision}
          </span>
          <b className="md">{item.agent}</b>
          <code className="el">{wordOf(item)}</code>
          <span className="mute el">
            {item.answered?.by}, {item.answered?.reason === null ? item.answered.via : `“${item.answered?.reason}”`}
          </span>
        </div>
      ))}
    </section>
  );
}
