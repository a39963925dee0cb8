import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, type JSX, useState } from 'react';
import type { Forecast as ForecastView, Usage } from '../../api/types.ts';
import { cost, percent, whole } from '../../base/format.ts';
import { useUrlState } from '../../base/url-state.ts';
import { Button, ErrorBand, Select } from '../../components/bits/bits.tsx';
import { FateGlyph } from '../../components/fate/fate.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { forecastQuery, modelsQuery, sum } from './data.ts';

type Item = ForecastView['items'][number];

/** Models that are offered before somebody names one: those in use, except where the calls come from. */
const OFFERED = 3;
const MOST = 6;

/** Models by how often they were called, as `engine/model`. */
function modelsIn(usage: Usage | undefined): readonly string[] {
  return (usage?.groups ?? [])
    .filter(({ key, tokens_in: read }) => key.engine != null && key.model != null && sum(read) > 0)
    .toSorted((a, b) => sum(b.cost_nano_usd) - sum(a.cost_nano_usd) || sum(b.runs) - sum(a.runs))
    .map(({ key }) => `${key.engine}/${key.model}`);
}

/** What if I switched? The same calls at the prices of others, and recorded requests tried on them. */
export function Forecast({ usage, span }: { readonly usage: Usage | undefined; readonly span: number }): JSX.Element | null {
  const [state, change] = useUrlState();
  const models = modelsIn(usage);
  const from = state.from !== undefined && models.includes(state.from) ? state.from : models[0];
  const named = (state.to ?? '').split(',').filter((text) => text !== '');
  const to = named.length > 0 ? named : models.filter((model) => model !== from).slice(0, OFFERED);
  const found = useQuery(forecastQuery({ from, to, span }));
  if (from === undefined) return null;
  const set = (next: readonly string[]): void => change({ to: next.join(',') || undefined }, { replace: true });
  return (
    <section className="panel forecast" aria-label="What if I switched?">
      <div className="ph">
        <h2>What if I switched?</h2>
        <span className="mute s">from</span>
        <Select
          label="Calls of"
          value={from}
          options={models.map((id) => [id, id])}
          onChange={(next) => change({ from: next, to: undefined })}
        />
        <span className="grow" />
        {found.data === undefined ? null : (
          <span className="mute s hide-s">
            {whole(found.data.calls)} calls came to {cost(found.data.cost_nano_usd)}
          </span>
        )}
      </div>
      <ErrorBand error={found.error} retry={() => void found.refetch()} />
      {found.data === undefined ? null : <Switches found={found.data} drop={(id) => set(to.filter((one) => one !== id))} />}
      <Another full={to.length >= MOST} add={(id) => set([...to, id])} />
      <p className="note">About: the same tokens at list price, other tokenizers and answers not counted. {triedWords(found.data)}</p>
    </section>
  );
}

function triedWords(found: ForecastView | undefined): string {
  if (found === undefined) return '';
  if (found.tried === null) return 'What would be lost is told to those who may read recorded bodies.';
  if (found.tried === 0) return 'No request of this time was recorded, so what would be lost is not known.';
  return `What would be lost was tried on the newest ${found.tried} recorded requests; nobody was called.`;
}

function Switches({ found, drop }: { readonly found: ForecastView; drop(id: string): void }): JSX.Element {
  return (
    <table aria-label="What if I switched">
      <thead>
        <tr>
          <th>Switch to</th>
          <th className="r">Would cost</th>
          <th className="r">Difference</th>
          <th className="r hide-s">Without its cache</th>
          <th className="hide-s">Recorded requests</th>
          <th className="hide-s">What would be lost</th>
          <th aria-label="Take off" />
        </tr>
      </thead>
      <tbody>
        {found.items.map((item) => (
          <tr key={`${item.engine}/${item.model}`}>
            <td>
              {item.engine} <code className="mute">{item.model}</code>
            </td>
            <td className="m r">{item.cost_nano_usd === null ? 'no price' : cost(item.cost_nano_usd)}</td>
            <td className="m r">
              <Difference from={found.cost_nano_usd} to={item.cost_nano_usd} />
            </td>
            <td className="m r mute hide-s">{item.uncached_nano_usd === null ? '–' : cost(item.uncached_nano_usd)}</td>
            <td className="hide-s">
              <Tried item={item} tried={found.tried ?? 0} />
            </td>
            <td className="hide-s">
              <Losses item={item} />
            </td>
            <td className="r">
              <button
                type="button"
                className="ib"
                aria-label={`take ${item.engine}/${item.model} off`}
                onClick={() => drop(`${item.engine}/${item.model}`)}
              >
                <Icon name="x" />
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Less is said with a minus and a word, more with a plus: the colour comes on top. */
function Difference({ from, to }: { readonly from: number; readonly to: number | null }): JSX.Element {
  if (to === null || from === 0) return <>–</>;
  const share = (to - from) / from;
  return <span className={share <= 0 ? 'ok' : 'bad'}>{share <= 0 ? `−${percent(-share)}` : `+${percent(share)}`}</span>;
}

function Tried({ item: { refused, mapped }, tried }: { readonly item: Item; readonly tried: number }): JSX.Element {
  if (tried === 0) return <span className="mute s">none to try</span>;
  if (refused > 0) return <span className="bad s">{`${refused} of ${tried} refused`}</span>;
  return <span className="ok s">{mapped === 0 ? `all ${tried} pass unchanged` : `all ${tried} would be sent`}</span>;
}

const SHOWN = 2;

function Losses({ item: { losses } }: { readonly item: Item }): JSX.Element {
  if (losses.length === 0) return <span className="mute s">–</span>;
  return (
    <span className="row lossrow">
      {losses.slice(0, SHOWN).map(({ path, fate, note, calls }) => (
        <span key={`${fate}${path}`} className="row s" title={`${note ?? fate}, in ${calls} of them`}>
          <FateGlyph fate={fate} /> <code className="el">{path}</code>
        </span>
      ))}
      {losses.length > SHOWN ? <span className="mute s">and {losses.length - SHOWN}</span> : null}
    </span>
  );
}

/** A field for one more model, with the catalogue behind it. */
function Another({ full, add }: { readonly full: boolean; add(id: string): void }): JSX.Element {
  const [text, setText] = useState('');
  const offered = useQuery(modelsQuery(text)).data?.items ?? [];
  const take = (event: FormEvent): void => {
    event.preventDefault();
    if (!/^[^/]+\/.+/.test(text)) return;
    add(text.trim());
    setText('');
  };
  return (
    <form className="row pad another" onSubmit={take}>
      <input
        aria-label="Another engine and model"
        placeholder="engine/model"
        className="m"
        list="forecast-models"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <datalist id="forecast-models">
        {offered.slice(0, 50).map(({ engine, id }) => (
          <option key={`${engine}/${id}`} value={`${engine}/${id}`} />
        ))}
      </datalist>
      <Button small type="submit" icon="plus" locked={full ? `${MOST} at most` : undefined}>
        Model
      </Button>
      <span className="grow" />
      <Link className="s ink2" to="/playground">
        Try one request in the Playground
      </Link>
    </form>
  );
}
