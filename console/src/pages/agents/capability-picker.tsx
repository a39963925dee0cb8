import { useQuery } from '@tanstack/react-query';
import { type JSX, type KeyboardEvent, useState } from 'react';
import { Button } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { SchemaForm } from '../../components/schema-form/schema-form.tsx';
import { type Chosen, capabilitiesQuery, capabilityQuery, type Preview } from './data.ts';

function moved(chosen: readonly Chosen[], from: number, to: number): readonly Chosen[] {
  const one = chosen[from];
  if (one === undefined || to < 0 || to >= chosen.length) return chosen;
  return chosen.filter((_, at) => at !== from).toSpliced(to, 0, one);
}

/** The capability that the server's reason is about. */
function isBlamed(refused: Preview['error'], id: string): boolean {
  if (refused === null) return false;
  const { capability_id: one, capabilities } = refused.details;
  return one === id || (Array.isArray(capabilities) && capabilities.includes(id));
}

interface PickedProps {
  readonly chosen: readonly Chosen[];
  /** Why the list cannot be put together. */
  readonly refused: Preview['error'];
  change(chosen: readonly Chosen[]): void;
}

/** The chosen capabilities in their order, which is changed by dragging or with ⌥↑↓; each with its settings. */
export function Picked({ chosen, refused, change }: PickedProps): JSX.Element {
  const [dragged, setDragged] = useState<number | null>(null);
  return (
    <fieldset className="picked">
      <legend>Capabilities, in order</legend>
      {chosen.length === 0 ? <p className="note">None yet: it only talks.</p> : null}
      <ol>
        {chosen.map((one, at) => (
          <li
            key={one.id}
            draggable
            onDragStart={() => setDragged(at)}
            onDragOver={(event) => event.preventDefault()}
            onDrop={() => {
              if (dragged !== null) change(moved(chosen, dragged, at));
              setDragged(null);
            }}
            className={isBlamed(refused, one.id) ? 'blamed' : ''}
          >
            <PickedLine
              one={one}
              reason={isBlamed(refused, one.id) ? (refused?.message ?? '') : ''}
              move={(by) => change(moved(chosen, at, at + by))}
              remove={() => change(chosen.filter(({ id }) => id !== one.id))}
              configure={(config) => change(chosen.with(at, { ...one, config }))}
            />
          </li>
        ))}
      </ol>
    </fieldset>
  );
}

interface LineProps {
  readonly one: Chosen;
  readonly reason: string;
  move(by: number): void;
  remove(): void;
  configure(config: Chosen['config']): void;
}

function PickedLine({ one, reason, move, remove, configure }: LineProps): JSX.Element {
  const detail = useQuery(capabilityQuery(one.id));
  const schema = detail.data?.config_schema ?? null;
  const steer = (event: KeyboardEvent): void => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!event.altKey || by === undefined) return;
    event.preventDefault();
    move(by);
  };
  return (
    <>
      <div className="row">
        <button
          type="button"
          className="ib grip"
          onKeyDown={steer}
          aria-label={`move ${one.id}, with Alt and the arrows`}
          title="drag, or ⌥↑↓"
        >
          <Icon name="grip" />
        </button>
        <b className="md">{detail.data?.name ?? one.id}</b> <code className="mute">{detail.data?.version}</code>
        {detail.data?.host === true ? <span className="tag warn">acts on this machine</span> : null}
        <span className="mute s el grow">{detail.data?.description}</span>
        <span className="mute s nw">
          {detail.data === undefined ? '' : detail.data.tools.length === 1 ? '1 tool' : `${detail.data.tools.length} tools`}
        </span>
        <Button small icon="x" onClick={remove} aria-label={`remove ${one.id}`} />
      </div>
      {reason === '' ? null : (
        <p className="bad s" role="alert">
          {reason}
        </p>
      )}
      {detail.data?.tools_error === undefined ? null : <p className="warn s">{detail.data.tools_error}</p>}
      {schema === null ? null : (
        <details>
          <summary>Settings</summary>
          <SchemaForm schema={schema} value={one.config} change={configure} />
        </details>
      )}
    </>
  );
}

/** The capabilities that can be added. */
export function Picker({ chosen, add }: { readonly chosen: readonly Chosen[]; add(id: string): void }): JSX.Element {
  const capabilities = useQuery(capabilitiesQuery);
  const [find, setFind] = useState('');
  const wanted = find.trim().toLowerCase();
  const left = (capabilities.data?.items ?? []).filter(
    ({ id, name, description }) => !chosen.some((one) => one.id === id) && `${id} ${name} ${description}`.toLowerCase().includes(wanted),
  );
  return (
    <fieldset className="picker">
      <legend>Add a capability</legend>
      <input
        aria-label="Find a capability"
        placeholder="Find a capability"
        value={find}
        onChange={(event) => setFind(event.target.value)}
      />
      <ul>
        {left.map(({ id, name, description, status }) => (
          <li key={id}>
            <Button
              small
              icon="plus"
              onClick={() => add(id)}
              locked={status === 'coming_soon' ? 'It is listed and cannot be used yet.' : undefined}
              aria-label={`add ${name}`}
            >
              {name}
            </Button>
            <span className="mute s el">{description}</span>
            {status === 'available' ? null : <span className="tag">{status.replace('_', ' ')}</span>}
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
