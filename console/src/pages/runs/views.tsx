import { type JSX, useState } from 'react';
import type { UrlState } from '../../base/url-state.ts';
import { Icon } from '../../components/icon/icon.tsx';
import { chipsOf, isView, VIEWS, viewFilter } from './filter.ts';

const KEPT = 'abp.views';

export interface View {
  readonly name: string;
  readonly filter: UrlState;
  readonly own?: boolean;
}

function keptViews(): readonly View[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEPT) ?? '[]');
    return Array.isArray(found) ? found.filter((view) => typeof view?.name === 'string' && typeof view?.filter === 'object') : [];
  } catch {
    // Somebody else wrote there; what cannot be read is no view.
    return [];
  }
}

/** The kept views: ours, and those that were kept in this browser. */
export function useViews(state: UrlState): {
  readonly views: readonly View[];
  readonly current: number;
  keep(): void;
  drop(view: View): void;
} {
  const [own, setOwn] = useState(keptViews);
  const views = [...VIEWS, ...own.map((view) => ({ ...view, own: true }))];
  const save = (next: readonly View[]): void => {
    localStorage.setItem(KEPT, JSON.stringify(next));
    setOwn(next);
  };
  return {
    views,
    current: views.findIndex(({ filter }) => isView(state, filter)),
    keep: () => {
      const filter = viewFilter(state);
      const name = chipsOf(filter)
        .map(([, words]) => words)
        .join(', ');
      save([...own, { name, filter }]);
    },
    drop: ({ name }) => save(own.filter((view) => view.name !== name)),
  };
}

export function ViewBar(props: {
  readonly views: readonly View[];
  readonly current: number;
  readonly counts: Readonly<Record<string, string>> | undefined;
  readonly canKeep: boolean;
  go(index: number): void;
  keep(): void;
  drop(view: View): void;
}): JSX.Element {
  return (
    <nav className="views" aria-label="Kept views">
      {props.views.map((view, index) => (
        <span key={view.name} className="view">
          <button
            type="button"
            className={index === props.current ? 'on' : ''}
            aria-pressed={index === props.current}
            onClick={() => props.go(index)}
          >
            {view.name} <span className="c">{props.counts?.[view.name] ?? ''}</span>
          </button>
          {view.own === true ? (
            <button type="button" className="drop" aria-label={`forget the view ${view.name}`} onClick={() => props.drop(view)}>
              <Icon name="x" size={12} />
            </button>
          ) : null}
        </span>
      ))}
      {props.canKeep && props.current < 0 ? (
        <button type="button" onClick={props.keep}>
          <Icon name="plus" size={12} /> Keep this view
        </button>
      ) : null}
    </nav>
  );
}
