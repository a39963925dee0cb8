import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import type { Usage } from '../../api/types.ts';
import { count, duration, percent, sumCost, whole } from '../../base/format.ts';
import { type GroupName, nameOf, ofKey, sum } from './data.ts';

type Group = Usage['groups'][number];

const TITLES: Readonly<Record<GroupName, string>> = {
  engine: 'Models',
  model: 'Models',
  key: 'Keys',
  agent: 'Coding agents',
  made: 'Agents',
  tag: 'Tags',
};
const HEADS = ['Calls', 'In', 'Out', 'Cache read', 'First byte p50', 'p95', 'Cost', 'Share'];

/** The runs that a figure was made of; undefined where no filter finds them, such as those without a tag: a link would show others too. */
function searchOf(by: GroupName, { key }: Group, since: string): Record<string, string> | undefined {
  if (by === 'key') return { ...ofKey(key.key), since };
  const set = Object.entries(key).filter((pair): pair is [string, string] => pair[1] !== null);
  return set.length < Object.keys(key).length ? undefined : { ...Object.fromEntries(set), since };
}

/** The groups as a table; engines are told by their models. Each row leads to its runs. */
export function GroupsTable({
  usage,
  by,
  since,
}: {
  readonly usage: Usage | undefined;
  readonly by: GroupName;
  readonly since: string;
}): JSX.Element {
  const groups = (usage?.groups ?? []).toSorted((a, b) => sum(b.cost_nano_usd) - sum(a.cost_nano_usd) || sum(b.runs) - sum(a.runs));
  const most = Math.max(1, ...groups.map((group) => sum(group.cost_nano_usd)));
  const withEngine = by === 'engine' || by === 'model';
  return (
    <section className="panel" aria-label={TITLES[by]}>
      <div className="ph">
        <h2 className="grow">{TITLES[by]}</h2>
        <span className="mute s">a name leads to its runs</span>
      </div>
      <table aria-label="Groups">
        <thead>
          <tr>
            <th>{TITLES[by].slice(0, -1)}</th>
            {withEngine ? <th className="hide-s">Engine</th> : null}
            {HEADS.map((name, index) => (
              <th key={name} className={`${index < 7 ? 'r' : 'share'}${index === 0 || index === 6 ? '' : ' hide-s'}`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.length === 0 ? (
            <tr>
              <td className="mute" colSpan={10}>
                {usage === undefined ? 'Counting' : 'Nobody called in this time.'}
              </td>
            </tr>
          ) : null}
          {groups.slice(0, 100).map((group) => (
            <tr key={JSON.stringify(group.key)}>
              <td className="m">
                <Name name={nameOf(group, usage)} search={searchOf(by, group, since)} />
              </td>
              {withEngine ? <td className="mute hide-s">{group.key.engine}</td> : null}
              <Figures group={group} most={most} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Name({ name, search }: { readonly name: string; readonly search: Record<string, string> | undefined }): JSX.Element {
  if (search === undefined) return <span className="mute">{name}</span>;
  return (
    <Link to="/runs" search={search}>
      {name}
    </Link>
  );
}

function Figures({ group, most }: { readonly group: Group; readonly most: number }): JSX.Element {
  const read = sum(group.tokens_in);
  const first = group.first_byte_ms;
  return (
    <>
      <td className="m r">{whole(sum(group.runs))}</td>
      <td className="m r hide-s">{count(read)}</td>
      <td className="m r hide-s">{count(sum(group.tokens_out))}</td>
      <td className="m r hide-s">{read === 0 ? '–' : percent(sum(group.cache_read) / read)}</td>
      <td className="m r hide-s">{first?.p50[0] == null ? '–' : duration(first.p50[0])}</td>
      <td className="m r hide-s">{first?.p95[0] == null ? '–' : duration(first.p95[0])}</td>
      <td className="m r">{sumCost(sum(group.cost_nano_usd), sum(group.unpriced))}</td>
      <td className="share hide-s">
        <span className="sh">
          <i style={{ width: `${(sum(group.cost_nano_usd) / most) * 100}%` }} />
        </span>
      </td>
    </>
  );
}
