import { useQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { enginesQuery, matrixQuery } from '../../api/queries.ts';
import type { Engines } from '../../api/types.ts';
import { copyText } from '../../base/copy.ts';
import { Button, Segmented, Select } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { modelNamesQuery } from './data.ts';
import { DIALECTS, EXAMPLES } from './examples.ts';

type Compatibility = 'best_effort' | 'strict';

export interface Wish {
  readonly dialect: string;
  readonly engine: string;
  readonly model: string;
  readonly compatibility: Compatibility;
  readonly emulate: readonly string[];
}

interface BarProps {
  readonly wish: Wish;
  change(wish: Partial<Wish>): void;
  takeExample(name: string): void;
  load(): void;
  /** The call for a terminal; undefined while there is none. */
  readonly curl: string | undefined;
}

/** Engines, and for those that speak several dialects each of them. */
function targetsOf(engines: Engines | undefined): readonly string[] {
  return (engines?.items ?? []).flatMap(({ id, dialects }) =>
    dialects.length > 1 ? [id, ...dialects.map((dialect) => `${id}:${dialect}`)] : [id],
  );
}

/** Dialect, engine and model, how strictly, what may be emulated; and the ways in and out. */
export function Bar({ wish, change, takeExample, load, curl }: BarProps): JSX.Element {
  const engines = useQuery(enginesQuery);
  const [copied, setCopied] = useState(false);
  const targets = targetsOf(engines.data);
  const copy = (): void => {
    void copyText(curl ?? '').then(setCopied);
    window.setTimeout(() => setCopied(false), 1500);
  };
  return (
    <div className="bar">
      <span className="mute">Speak</span>
      <Select label="Dialect" value={wish.dialect} onChange={(dialect) => change({ dialect })} options={DIALECTS.map((id) => [id, id])} />
      <span className="mute">to</span>
      <span className="to">
        <Select
          label="Engine"
          value={wish.engine}
          onChange={(engine) => change({ engine })}
          options={(targets.includes(wish.engine) ? targets : [wish.engine, ...targets]).map((to) => [to, to] as const)}
        />
        <input
          className="m"
          list="models-of-engine"
          aria-label="Model"
          placeholder="model"
          value={wish.model}
          onChange={(event) => change({ model: event.target.value })}
        />
        <ModelNames engine={wish.engine} />
      </span>
      <Segmented<Compatibility>
        label="Compatibility"
        value={wish.compatibility}
        onChange={(compatibility) => change({ compatibility })}
        options={[
          ['best_effort', 'Best effort'],
          ['strict', 'Strict'],
        ]}
      />
      <Emulations wish={wish} change={change} />
      <span className="grow" />
      <Select
        label="Example"
        value=""
        options={[['', 'An example'], ...EXAMPLES.map(({ name }) => [name, name] as const)]}
        onChange={takeExample}
      />
      <Button onClick={load} keys="⌘O">
        Load a run
      </Button>
      <Button onClick={copy} disabled={curl === undefined}>
        {copied ? 'Copied' : 'Copy as curl'}
      </Button>
    </div>
  );
}

/** The models that are known of the engine, to choose from while one types. */
function ModelNames({ engine }: { readonly engine: string }): JSX.Element {
  const models = useQuery(modelNamesQuery(engine.split(':')[0] ?? engine));
  return (
    <datalist id="models-of-engine">
      {(models.data?.items ?? []).map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </datalist>
  );
}

/** Capabilities that may be approximated; a click on one takes it back. */
function Emulations({ wish: { emulate }, change }: Pick<BarProps, 'wish' | 'change'>): JSX.Element {
  const matrix = useQuery(matrixQuery);
  const all = [...new Set((matrix.data?.capabilities ?? []).map(({ capability }) => String(capability)))].sort();
  return (
    <>
      <span className="mute">Emulate</span>
      {emulate.map((capability) => (
        <button
          key={capability}
          type="button"
          className="chip"
          aria-label={`no longer emulate ${capability}`}
          onClick={() => change({ emulate: emulate.filter((other) => other !== capability) })}
        >
          <Icon name="emulated" /> {capability} <Icon name="x" size={11} />
        </button>
      ))}
      <Select
        label="Emulate a capability"
        value=""
        options={[['', '+ capability'], ...all.filter((name) => !emulate.includes(name)).map((name) => [name, name] as const)]}
        onChange={(name) => change({ emulate: [...emulate, name].filter(Boolean) })}
      />
    </>
  );
}
