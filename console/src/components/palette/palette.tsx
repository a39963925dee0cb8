import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import { get, withQuery } from '../../api/client.ts';
import { enginesQuery, keysQuery, sessionQuery } from '../../api/queries.ts';
import type { RunRow, RunRowList } from '../../api/types.ts';
import { shortId } from '../../base/format.ts';
import { Keys, StatusGlyph } from '../bits/bits.tsx';
import { type Choice, Chooser } from '../chooser/chooser.tsx';
import { RunTitle } from '../run-line/run-line.tsx';
import { useDoings } from './doings.ts';

const GO = [
  ['/', 'Home', 'G H'],
  ['/runs', 'Runs', 'G R'],
  ['/runs?status=failed', 'Failed runs', ''],
  ['/playground', 'Playground', 'G P'],
  ['/matrix', 'Matrix', 'G M'],
  ['/matrix?kind=models', 'Models and prices', ''],
  ['/agents', 'Agents', 'G A'],
  ['/coding', 'Coding agents', 'G C'],
  ['/inbox', 'Inbox', 'G I'],
  ['/usage', 'Usage', 'G U'],
  ['/settings/engines', 'Settings, engines', 'G S'],
  ['/settings/routes', 'Settings, routes', ''],
  ['/settings/keys', 'Settings, keys', ''],
  ['/settings/people', 'Settings, users and teams', ''],
  ['/settings/budgets', 'Settings, budgets', ''],
  ['/settings/recording', 'Settings, recording and limits', ''],
  ['/settings/trust', 'Settings, trust and paired browsers', ''],
] as const;

const CODE = /^(E\d{3}|[a-z]+(?:_[a-z]+)+)$/;
/** So many letters before the server is asked. */
const LEAST = 3;
const MOST_NAMES = 5;
/** The digits of a run are no name. */
const DIGITS = /^(run_)?[0-9a-f]+$/i;

/** A run id with the digits that were typed in bold. */
function Digits({ id, typed }: { readonly id: string; readonly typed: string }): JSX.Element {
  const short = shortId(id);
  const at = typed === '' ? -1 : short.indexOf(typed);
  if (at === -1) return <code>{short}</code>;
  return (
    <code>
      {short.slice(0, at)}
      <b className="ink">{short.slice(at, at + typed.length)}</b>
      {short.slice(at + typed.length)}
    </code>
  );
}

function Found({ row }: { readonly row: RunRow }): JSX.Element {
  return (
    <span className="row">
      <span className="mark">
        <StatusGlyph status={row.status} waiting={row.waiting} />
      </span>
      <span className="el">
        <RunTitle row={row} />
      </span>
    </span>
  );
}

type Going = (href: string) => () => void;

function useRuns(q: string, go: Going): readonly Choice[] {
  const runs = useQuery({
    queryKey: ['palette', q],
    queryFn: ({ signal }) => get<RunRowList>(withQuery('/v1/runs', { view: 'row', q, limit: 6 }), signal),
    enabled: q.length >= LEAST,
    staleTime: 5000,
  });
  if (q.length < LEAST) return [];
  return (runs.data?.items ?? []).map((row): Choice => {
    return {
      id: row.run_id,
      group: 'Runs',
      text: <Found row={row} />,
      hint: <Digits id={row.run_id} typed={q.toLowerCase()} />,
      act: go(`/runs/${row.run_id}`),
    };
  });
}

/** Lists of runs by names that are known here: keys and engines. */
function useNames(q: string, go: Going): readonly Choice[] {
  const session = useQuery(sessionQuery);
  const keys = useQuery({ ...keysQuery, enabled: q !== '' && session.data?.scopes.includes('settings') === true });
  const engines = useQuery({ ...enginesQuery, enabled: q !== '' });
  if (q === '') return [];
  const wanted = q.toLowerCase();
  const found = (kind: string, names: readonly string[]): Choice[] =>
    names
      .filter((name) => name.toLowerCase().includes(wanted))
      .slice(0, MOST_NAMES)
      .map((name) => ({
        id: `${kind} ${name}`,
        group: 'Go',
        icon: 'right',
        text: `Runs of ${kind} ${name}`,
        act: go(withQuery('/runs', { [kind]: name })),
      }));
  const user = (keys.data?.items ?? []).filter(({ kind }) => kind === 'user').map(({ name }) => name);
  return [
    ...found('key', user),
    ...found(
      'engine',
      (engines.data?.items ?? []).map(({ id }) => id),
    ),
    ...(q.length < LEAST || DIGITS.test(q)
      ? []
      : [
          { id: 'tag', group: 'Go', icon: 'right', text: `Runs with the tag ${q}`, act: go(withQuery('/runs', { tag: q })) },
          { id: 'model', group: 'Go', icon: 'right', text: `Models like ${q}`, act: go(withQuery('/matrix', { kind: 'models', q })) },
        ]),
  ];
}

/** Finds runs, pages and actions by a few letters. */
export function Palette({ close, showKeys }: { close(): void; showKeys(): void }): JSX.Element {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  // Not deferred: Enter right after the last letter takes a line of what was typed, not of what stood there before.
  const q = text.trim();
  const go: Going = (href) => () => {
    close();
    void navigate({ href });
  };
  const wanted = q.toLowerCase();
  const pages = GO.filter(([, name]) => name.toLowerCase().includes(wanted)).map(
    ([href, name, keys]): Choice => ({
      id: href,
      group: 'Go',
      icon: 'right',
      text: name,
      ...(keys === '' ? {} : { hint: <Keys keys={keys} /> }),
      act: go(href),
    }),
  );
  const docs: Choice[] = CODE.test(q)
    ? [
        {
          id: 'docs',
          group: 'Do',
          icon: 'file',
          text: `What ${q} means`,
          act: () => void window.open(`/docs/errors/${q}`, '_blank', 'noreferrer'),
        },
      ]
    : [];
  const doings = useDoings(showKeys)
    .filter((one) => one.text.toLowerCase().includes(wanted))
    .map(
      ({ id, text: words, icon, keys, act }): Choice => ({
        id,
        group: 'Do',
        icon: icon ?? 'right',
        text: words,
        ...(keys === undefined ? {} : { hint: <Keys keys={keys} /> }),
        act: () => {
          close();
          act();
        },
      }),
    );
  const choices = [...useRuns(q, go), ...docs, ...doings, ...pages, ...useNames(q, go)];
  return (
    <Chooser
      label="Find a run, a page or an action"
      placeholder="Run id, page, action, error code"
      text={text}
      choices={choices}
      nothing="Nothing of that name."
      onText={setText}
      close={close}
    />
  );
}
