import { useQuery } from '@tanstack/react-query';
import { type JSX, useDeferredValue } from 'react';
import { cost, count, price, whole } from '../../base/format.ts';
import { type UrlState, useUrlState } from '../../base/url-state.ts';
import { ErrorBand, Segmented, Select } from '../../components/bits/bits.tsx';
import { type Calculation, type CatalogueModel, modelsQuery } from './data.ts';

const MOST_SHOWN = 200;

function calculationOf({ in: input, out: output, cached }: UrlState): Calculation {
  const number = (text: string | undefined, otherwise: number): number => {
    const value = Math.floor(Number(text ?? otherwise));
    return Number.isFinite(value) && value >= 0 ? value : otherwise;
  };
  return { input: number(input, 10_000), output: number(output, 1000), cached: number(cached, 0) };
}

/** Models whose limits are known first, engine by engine: these are the ones that people ask for. */
function byKnown(a: CatalogueModel, b: CatalogueModel): number {
  return Number(a.max_output_tokens === null) - Number(b.max_output_tokens === null);
}

/** Cheapest first; models without a price come last. */
function byCost(a: CatalogueModel, b: CatalogueModel): number {
  return (a.cost_nano_usd ?? Number.POSITIVE_INFINITY) - (b.cost_nano_usd ?? Number.POSITIVE_INFINITY) || a.id.localeCompare(b.id);
}

/** The catalogue: limits, thinking, prices, and what so many tokens would cost on each model. */
export function Models(): JSX.Element {
  const [state, change] = useUrlState();
  const calculation = useDeferredValue(calculationOf(state));
  const models = useQuery(modelsQuery(calculation));
  const wanted = (state.q ?? '').trim().toLowerCase();
  const all = models.data?.items ?? [];
  const engines = [...new Set(all.map(({ engine }) => engine))];
  const found = all
    .filter(({ engine, id, name }) => (state.engine ?? engine) === engine && `${engine}/${id} ${name}`.toLowerCase().includes(wanted))
    .sort(state.sort === 'cost' ? byCost : byKnown);
  const set = (name: string) => (value: string) => change({ [name]: value === '' ? undefined : value }, { replace: true });
  return (
    <>
      <div className="bar">
        <input
          aria-label="Find a model"
          placeholder="Find a model"
          value={state.q ?? ''}
          onChange={(event) => set('q')(event.target.value)}
        />
        <Select
          label="Engine"
          value={state.engine ?? ''}
          onChange={set('engine')}
          options={[['', 'every engine'], ...engines.map((id) => [id, id] as const)]}
        />
        <Segmented<string>
          label="Order"
          value={state.sort ?? 'engine'}
          onChange={(sort) => set('sort')(sort === 'cost' ? sort : '')}
          options={[
            ['engine', 'By engine'],
            ['cost', 'Cheapest first'],
          ]}
        />
        <span className="mute">What would</span>
        <Tokens label="tokens in" value={state.in ?? '10000'} set={set('in')} />
        <Tokens label="out" value={state.out ?? '1000'} set={set('out')} />
        <Tokens label="of them cached" value={state.cached ?? '0'} set={set('cached')} />
        <span className="mute">cost?</span>
      </div>
      <ErrorBand error={models.error} retry={() => void models.refetch()} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys */}
      <div className="models scroll" tabIndex={0} role="region" aria-label="Models">
        <ModelTable models={found.slice(0, MOST_SHOWN)} stale={models.isPlaceholderData} />
        <p className="note pad">
          {found.length > MOST_SHOWN ? `${whole(found.length - MOST_SHOWN)} more; narrow the search to see them. ` : ''}
          {models.data === undefined
            ? 'reading the price list'
            : `List prices in US dollars for a million tokens (${models.data.prices}). A subscription may pay.`}
        </p>
      </div>
    </>
  );
}

function Tokens({ label, value, set }: { readonly label: string; readonly value: string; set(value: string): void }): JSX.Element {
  return (
    <label className="row">
      <input
        className="m tokens"
        inputMode="numeric"
        value={value}
        onChange={(event) => set(event.target.value.replaceAll(/\D/g, '').slice(0, 9))}
      />
      <span className="mute">{label}</span>
    </label>
  );
}

function ModelTable({ models, stale }: { readonly models: readonly CatalogueModel[]; readonly stale: boolean }): JSX.Element {
  return (
    <table aria-label="Models" className={stale ? 'stale' : ''}>
      <thead>
        <tr>
          <th>Engine</th>
          <th>Model</th>
          <th className="r">Context</th>
          <th className="r">Writes at most</th>
          <th>Thinks</th>
          <th>Takes</th>
          <th className="r">In</th>
          <th className="r">Cached</th>
          <th className="r">Out</th>
          <th className="r">Would cost</th>
        </tr>
      </thead>
      <tbody>
        {models.map((model) => (
          <ModelLine key={`${model.engine}/${model.id}`} model={model} />
        ))}
      </tbody>
    </table>
  );
}

const perMillion = (nano: number | undefined): string => (nano === undefined ? '' : price(nano / 1e9));

function ModelLine({ model }: { readonly model: CatalogueModel }): JSX.Element {
  const { engine, id, name, rates, thinking } = model;
  const takes = [...(model.images === true ? ['images'] : []), ...(model.files === true ? ['files'] : [])];
  return (
    <tr>
      <td className="mute">{engine}</td>
      <td className="m md" title={name}>
        {id}
      </td>
      <td className="r m">{model.context_window === null ? '' : count(model.context_window)}</td>
      <td className="r m">{model.max_output_tokens === null ? '' : count(model.max_output_tokens)}</td>
      <td className="s">{thinking === null ? '' : thinking.levels.join(', ')}</td>
      <td className="s">{takes.join(', ')}</td>
      <td className="r m">{perMillion(rates?.input)}</td>
      <td className="r m">{perMillion(rates?.cache_read)}</td>
      <td className="r m">{perMillion(rates?.output)}</td>
      <td className="r m md">{model.cost_nano_usd === null ? <span className="mute">no price</span> : cost(model.cost_nano_usd)}</td>
    </tr>
  );
}
