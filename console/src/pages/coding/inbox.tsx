import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import { answer, answeredQuery, type Interaction, interactionsQuery } from '../../api/interactions.ts';
import { sessionQuery } from '../../api/queries.ts';
import { useStream } from '../../api/streams.ts';
import { hourMinute } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { Approval } from '../../components/approval/approval.tsx';
import { Empty, ErrorBand } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';

const KEYS = [
  ['J K', 'move'],
  ['A', 'approve'],
  ['D', 'deny'],
  ['O', 'open run'],
] as const;

/** Every open question, oldest first. There is no way to approve all of them. */
export function Inbox(): JSX.Element {
  const client = useQueryClient();
  const navigate = useNavigate();
  const open = useQuery(interactionsQuery);
  const session = useQuery(sessionQuery);
  const [at, setAt] = useState(0);
  const [failure, setFailure] = useState<unknown>(null);
  const refresh = (): void => void client.invalidateQueries({ queryKey: ['interactions'] });
  useStream('/v1/interactions/stream', { 'interaction.asked': refresh, 'interaction.closed': refresh });
  const items = open.data?.items ?? [];
  const current = items[Math.min(at, items.length - 1)];
  const may = session.data?.scopes.includes('answer') === true;
  const say = (approve: boolean) => (): void => {
    if (current !== undefined && may) answer(current, approve, '').then(refresh, setFailure);
  };
  useKeys({
    j: () => setAt(Math.min(at + 1, items.length - 1)),
    k: () => setAt(Math.max(at - 1, 0)),
    a: say(true),
    d: () => document.querySelector<HTMLInputElement>(`[data-id="${CSS.escape(current?.id ?? '')}"] input`)?.focus(),
    o: () => {
      if (current?.run_id) void navigate({ to: '/runs/$run', params: { run: current.run_id } });
    },
  });
  return (
    <section className="in" aria-label="Inbox">
      <div className="hd">
        <h1>{items.length === 0 ? 'Nobody waits for you' : `${items.length} ${items.length === 1 ? 'waits' : 'wait'} for you`}</h1>
        <span className="mute s">oldest first</span>
        <span className="grow" />
        {KEYS.map(([key, does]) => (
          <span key={key} className="mute s hide-s">
            <kbd>{key}</kbd> {does}
          </span>
        ))}
      </div>
      <output className="sr" aria-live="assertive">
        {items.length > 0 ? `${items.length} wait for you` : ''}
      </output>
      <ErrorBand error={failure ?? open.error} retry={refresh} />
      <div className="cards scroll">
        {items.map((item, index) => (
          <Approval
            key={item.id}
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
      </div>
    </section>
  );
}

function wordOf({ input, tool }: Interaction): string {
  return typeof input === 'string' ? input : `${tool ?? ''} ${JSON.stringify(input)}`;
}

function Answered(): JSX.Element | null {
  const answered = useQuery(answeredQuery);
  const items = answered.data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <section aria-label="Answered since the server started">
      <h2 className="answered">Answered since the server started</h2>
      {items.slice(0, 30).map((item) => (
        <div key={`${item.id}${item.answered?.at}`} className="hrow">
          <span className="m mute">{hourMinute(item.answered?.at ?? 0)}</span>
          <span className={item.answered?.decision === 'denied' ? 'bad' : 'ok'}>
            <Icon name={item.answered?.decision === 'denied' ? 'refused' : 'check'} /> {item.answered?.decision}
          </span>
          <b className="md">{item.agent}</b>
          <code className="el">{wordOf(item)}</code>
          <span className="mute">
            {item.answered?.by}, {item.answered?.via}
          </span>
        </div>
      ))}
    </section>
  );
}
