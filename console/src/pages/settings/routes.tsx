import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type JSX, type KeyboardEvent, useState } from 'react';
import { send } from '../../api/client.ts';
import { Button, ErrorBand, Select } from '../../components/bits/bits.tsx';
import { type Route, routesQuery, type Routes as Table, words } from './data.ts';

/** A row as it is being written: lists are text until they are saved. */
interface Draft {
  readonly key: number;
  readonly match: string;
  readonly to: string;
  readonly fallback: string;
  readonly attempts: string;
  readonly emulate: string;
  readonly recording: string;
}

let lastKey = 0;
const newKey = (): number => {
  lastKey += 1;
  return lastKey;
};

function draftOf({ match, to, fallback, attempts, emulate, recording }: Route): Draft {
  return {
    key: newKey(),
    match,
    to,
    fallback: fallback.join(', '),
    attempts: String(attempts),
    emulate: emulate.join(', '),
    recording: recording ?? '',
  };
}

function rowOf({ match, to, fallback, attempts, emulate, recording }: Draft): object {
  return {
    match: match.trim(),
    to: to.trim(),
    fallback: words(fallback),
    attempts: Number(attempts || '1'),
    emulate: words(emulate),
    ...(recording === '' ? {} : { recording }),
  };
}

const EMPTY: Omit<Draft, 'key'> = { match: '', to: '', fallback: '', attempts: '1', emulate: '', recording: '' };
const RECORDINGS = [
  ['', 'as the key says'],
  ['full', 'full'],
  ['digest', 'digest'],
  ['off', 'off'],
] as const;

/** Which models go where. Rows of the database are edited here; those of the file stand below them, to be read. */
export function Routes(): JSX.Element {
  const client = useQueryClient();
  const routes = useQuery(routesQuery);
  const [changed, setChanged] = useState<readonly Draft[] | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [saving, setSaving] = useState(false);
  const items = routes.data?.items ?? [];
  const drafts = changed ?? items.filter(({ source }) => source === 'database').map(draftOf);
  const save = async (): Promise<void> => {
    setSaving(true);
    try {
      client.setQueryData(routesQuery.queryKey, await send<Table>('PUT', '/v1/routes', { items: drafts.map(rowOf) }));
      setChanged(null);
      setFailure(null);
    } catch (error) {
      setFailure(error);
    } finally {
      setSaving(false);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <p className="note">
        The first row that matches a model’s name counts. <code>*</code> stands for anything; a target is an engine,{' '}
        <code>engine/model</code>, or either with <code>engine:dialect</code>. A change holds from the next call on, on every node of the
        database.
      </p>
      <ErrorBand error={failure ?? routes.error} />
      <RouteRows drafts={drafts} change={setChanged} />
      {items.length === 0 && drafts.length === 0 && routes.data !== undefined ? (
        <p className="note">No routes: a model goes to the engine in the path, in X-ABP-Engine, in its prefix, or to the dialect’s own.</p>
      ) : null}
      <div className="row new">
        <Button icon="plus" onClick={() => setChanged([...drafts, { key: newKey(), ...EMPTY }])}>
          Add a route
        </Button>
        <Button type="submit" look="primary" disabled={changed === null || saving} acts>
          Save
        </Button>
        {changed === null ? null : (
          <Button
            onClick={() => {
              setChanged(null);
              setFailure(null);
            }}
          >
            Discard
          </Button>
        )}
      </div>
      <FileRows rows={items.filter(({ source }) => source === 'file')} />
    </form>
  );
}

function moved(drafts: readonly Draft[], from: number, to: number): readonly Draft[] {
  const one = drafts[from];
  if (one === undefined || to < 0 || to >= drafts.length) return drafts;
  return drafts.filter((_, at) => at !== from).toSpliced(to, 0, one);
}

interface RowsProps {
  readonly drafts: readonly Draft[];
  change(drafts: readonly Draft[]): void;
}

function RouteRows({ drafts, change }: RowsProps): JSX.Element | null {
  if (drafts.length === 0) return null;
  return (
    <table aria-label="Routes that are kept here" className="routes">
      <thead>
        <tr>
          <th>Model</th>
          <th>Goes to</th>
          <th>Else to</th>
          <th>Tries</th>
          <th>Emulates</th>
          <th>Records</th>
          <th>
            <span className="sr">Order</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {drafts.map((draft, at) => (
          <RouteRow
            key={draft.key}
            draft={draft}
            place={at + 1}
            set={(next) => change(drafts.with(at, { ...draft, ...next }))}
            move={(by) => change(moved(drafts, at, at + by))}
            remove={() => change(drafts.filter((_, other) => other !== at))}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  readonly draft: Draft;
  readonly place: number;
  set(next: Partial<Draft>): void;
  move(by: number): void;
  remove(): void;
}

function RouteRow({ draft, place, set, move, remove }: RowProps): JSX.Element {
  const steer = (event: KeyboardEvent): void => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!event.altKey || by === undefined) return;
    event.preventDefault();
    move(by);
  };
  const field = (name: 'match' | 'to' | 'fallback' | 'attempts' | 'emulate', label: string, placeholder: string): JSX.Element => (
    <td className={name}>
      <input
        className="m"
        aria-label={`${label} of route ${place}`}
        placeholder={placeholder}
        required={name === 'match' || name === 'to'}
        value={draft[name]}
        onChange={(event) => set({ [name]: event.target.value })}
        onKeyDown={steer}
      />
    </td>
  );
  return (
    <tr>
      {field('match', 'Model', 'claude-*')}
      {field('to', 'Target', 'gemini/gemini-2.5-pro')}
      {field('fallback', 'Fallbacks', 'sim')}
      {field('attempts', 'Tries', '1')}
      {field('emulate', 'Emulations', 'extended_thinking')}
      <td>
        <Select
          label={`Recording of route ${place}`}
          value={draft.recording}
          options={RECORDINGS}
          onChange={(recording) => set({ recording })}
        />
      </td>
      <td className="r nw">
        <Button small onClick={() => move(-1)} aria-label={`route ${place} up`} title="up (⌥↑)">
          ↑
        </Button>{' '}
        <Button small onClick={() => move(1)} aria-label={`route ${place} down`} title="down (⌥↓)">
          ↓
        </Button>{' '}
        <Button small icon="x" onClick={remove} aria-label={`remove route ${place}`} />
      </td>
    </tr>
  );
}

function FileRows({ rows }: { readonly rows: readonly Route[] }): JSX.Element | null {
  if (rows.length === 0) return null;
  return (
    <>
      <h2>
        From <code>abp.toml</code>, asked after those above
      </h2>
      <table aria-label="Routes of abp.toml" className="stacks">
        <thead>
          <tr>
            <th>Model</th>
            <th>Goes to</th>
            <th>Else to</th>
            <th>Tries</th>
            <th>Emulates</th>
            <th>Records</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((route) => (
            <tr key={`${route.match} ${route.to}`}>
              <td className="m">{route.match}</td>
              <td className="m md">{route.to}</td>
              <td className="m">{route.fallback.join(', ')}</td>
              <td>{route.attempts}</td>
              <td>{route.emulate.join(', ')}</td>
              <td className="mute">{route.recording ?? 'as the key says'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
