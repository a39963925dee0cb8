import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { enginesQuery } from '../../api/queries.ts';
import type { Explained } from '../../api/types.ts';
import { cost } from '../../base/format.ts';
import { Icon } from '../../components/icon/icon.tsx';
import { type Asked, elsewhereQuery } from './data.ts';
import type { Target } from './models.ts';
import { Fates } from './verdict.tsx';

/** The engines of the list, in their order; replay answers only what it has heard before. */
export function useTargets(): readonly string[] {
  const engines = useQuery(enginesQuery);
  return (engines.data?.items ?? []).map(({ id }) => id).filter((id) => id !== 'replay');
}

interface ElsewhereProps {
  readonly asked: Asked | null;
  readonly targets: readonly Target[];
  readonly current: string;
  show(to: string): void;
}

/** The same request on every engine, one line each, with the model that it would be asked for. */
export function Elsewhere({ asked, targets, current, show }: ElsewhereProps): JSX.Element {
  const all = useQuery(elsewhereQuery(asked, targets));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys
    <section className="dst scroll" aria-label="The same request elsewhere" tabIndex={0}>
      <table aria-label="Verdicts of other engines">
        <thead>
          <tr>
            <th>
              <h2>The same request elsewhere</h2>
            </th>
            <th>Fates</th>
            <th>Verdict</th>
            <th className="r">At most</th>
            <th>
              <span className="sr">Show</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {targets.map((target) => (
            <Row key={target.to} target={target} on={current === target.to} explained={all.data?.get(target.to)} show={show} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  readonly target: Target;
  readonly on: boolean;
  readonly explained: Explained | undefined;
  show(to: string): void;
}

function Row({ target: { to, model, own }, on, explained, show }: RowProps): JSX.Element {
  const most = explained?.estimate?.max_cost_nano_usd ?? null;
  return (
    <tr className={on ? 'on' : ''}>
      <td className="md">
        {to} <code className="mute">{model}</code>
        {own || on ? null : <span className="mute s"> as you send it</span>}
      </td>
      <td>{explained === undefined ? null : <Fates explained={explained} />}</td>
      <td>{explained === undefined ? <span className="skeleton" /> : <Says explained={explained} />}</td>
      <td className="r m">
        {explained?.error === undefined && explained !== undefined ? (
          most === null ? (
            <span className="mute">no price</span>
          ) : (
            `≤ ${cost(most)}`
          )
        ) : (
          ''
        )}
      </td>
      <td className="r">
        <button type="button" className="link" onClick={() => show(to)}>
          {on ? 'shown above' : 'show'}
        </button>
      </td>
    </tr>
  );
}

/** The verdict in short: refused ones name the fields that stop them. */
function Says({ explained }: { readonly explained: Explained }): JSX.Element {
  const { error, fidelity } = explained;
  if (error === undefined) {
    return (
      <span className="ok">
        <Icon name="check" size={12} /> would be sent
      </span>
    );
  }
  const fields = fidelity.filter(({ fate }) => fate === 'refused').map(({ path }) => path);
  return (
    <span className="bad" title={error.message}>
      <b className="m">{error.code}</b> {fields.length === 0 ? error.message : fields.join(', ')}
    </span>
  );
}
