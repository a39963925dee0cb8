import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type JSX, type KeyboardEvent, useDeferredValue, useEffect, useRef, useState } from 'react';
import { get, withQuery } from '../../api/client.ts';
import type { RunRowList } from '../../api/types.ts';
import { shortId } from '../../base/format.ts';
import { toggleTheme } from '../../base/theme.ts';
import { StatusGlyph } from '../bits/bits.tsx';
import { Icon } from '../icon/icon.tsx';
import './palette.css';

interface Choice {
  readonly id: string;
  readonly group: 'Runs' | 'Do' | 'Go';
  readonly text: JSX.Element | string;
  readonly hint?: string;
  act(): void;
}

const GO = [
  ['/', 'Home', 'G H'],
  ['/runs', 'Runs', 'G R'],
  ['/runs?status=failed', 'Failed runs', ''],
  ['/playground', 'Playground', 'G P'],
  ['/matrix', 'Matrix', 'G M'],
  ['/agents', 'Agents', 'G A'],
  ['/coding', 'Coding agents', 'G C'],
  ['/inbox', 'Inbox', 'G I'],
  ['/usage', 'Usage', 'G U'],
  ['/settings/engines', 'Settings, engines', 'G S'],
  ['/settings/keys', 'Settings, keys', ''],
  ['/settings/trust', 'Settings, trust and paired browsers', ''],
] as const;

const CODE = /^(E\d{3}|[a-z]+(?:_[a-z]+)+)$/;

function useChoices(text: string, close: () => void): readonly Choice[] {
  const navigate = useNavigate();
  const q = useDeferredValue(text.trim());
  const runs = useQuery({
    queryKey: ['palette', q],
    queryFn: ({ signal }) => get<RunRowList>(withQuery('/v1/runs', { view: 'row', q, limit: 6 }), signal),
    enabled: q.length >= 3,
    staleTime: 5000,
  });
  const go = (href: string) => (): void => {
    close();
    void navigate({ href });
  };
  const found = (q.length >= 3 ? (runs.data?.items ?? []) : []).map((row): Choice => {
    const title = row.plane === 'gateway' ? `${row.dialect ?? ''} → ${row.engine ?? ''}` : row.task;
    const line = (
      <>
        <StatusGlyph status={row.status} waiting={row.waiting} /> <span className="md">{title}</span>{' '}
        <code className="mute">{row.upstream_model ?? row.model}</code>
      </>
    );
    return { id: row.run_id, group: 'Runs', text: line, hint: shortId(row.run_id), act: go(`/runs/${row.run_id}`) };
  });
  const wanted = q.toLowerCase();
  const pages = GO.filter(([, name]) => name.toLowerCase().includes(wanted)).map(
    ([href, name, hint]): Choice => ({ id: href, group: 'Go', text: name, hint, act: go(href) }),
  );
  const theme: Choice = {
    id: 'theme',
    group: 'Do',
    text: 'Light or dark',
    hint: 'T',
    act: () => {
      close();
      toggleTheme();
    },
  };
  const docs: Choice[] = CODE.test(q)
    ? [{ id: 'docs', group: 'Do', text: `What ${q} means`, act: () => window.open(`/docs/errors/${q}`, '_blank', 'noreferrer') }]
    : [];
  return [...found, ...docs, ...('light or dark theme'.includes(wanted) ? [theme] : []), ...pages];
}

/** Finds runs, pages and actions by a few letters. */
export function Palette({ close }: { close(): void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const choices = useChoices(text, close);
  const chosen = choices[Math.min(at, choices.length - 1)];
  useEffect(() => dialog.current?.showModal(), []);
  const steer = (event: KeyboardEvent): void => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move !== undefined) {
      event.preventDefault();
      setAt((before) => Math.max(0, Math.min(choices.length - 1, before + move)));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      chosen?.act();
    }
  };
  return (
    <dialog ref={dialog} className="palette" aria-label="Find a run, a page or an action" onClose={close}>
      <div className="in">
        <Icon name="search" size={16} />
        <input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-choices"
          aria-activedescendant={chosen === undefined ? undefined : `choice-${choices.indexOf(chosen)}`}
          aria-label="Run id, page or action"
          placeholder="Run id, page, action, error code"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={steer}
        />
        <kbd>Esc</kbd>
      </div>
      <div id="palette-choices" role="listbox" aria-label="Found" className="list">
        {choices.map((choice, index) => (
          <Line
            key={choice.id}
            choice={choice}
            index={index}
            chosen={choice === chosen}
            first={choices[index - 1]?.group !== choice.group}
          />
        ))}
        {choices.length === 0 ? <p className="g">Nothing of that name.</p> : null}
      </div>
    </dialog>
  );
}

function Line(props: { readonly choice: Choice; readonly index: number; readonly chosen: boolean; readonly first: boolean }): JSX.Element {
  const { choice, index, chosen, first } = props;
  return (
    <>
      {first ? (
        <div className="g" role="presentation">
          {choice.group}
        </div>
      ) : null}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys are heard by the field, which keeps the focus */}
      <div id={`choice-${index}`} role="option" aria-selected={chosen} className={chosen ? 'o on' : 'o'} onClick={choice.act}>
        <span className="grow el">{choice.text}</span>
        {choice.hint === undefined || choice.hint === '' ? null : <code className="mute">{choice.hint}</code>}
      </div>
    </>
  );
}
