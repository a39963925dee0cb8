import { type JSX, useRef } from 'react';
import type { Specimen } from '../../base/specimen.ts';
import { DataList } from './data-list.tsx';

interface Line {
  readonly id: string;
  readonly name: string;
}

const LINES: readonly Line[] = Array.from({ length: 5000 }, (_, at) => ({ id: `${at}`, name: `claude → gemini, run ${at}` }));
const nothing = (): void => undefined;

function Sample({
  rows,
  selected,
  rowHeight,
}: {
  readonly rows: readonly Line[];
  readonly selected: number;
  readonly rowHeight: number;
}): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  return (
    <div className="tall">
      <DataList<Line>
        label="Lines"
        head={[
          { key: 'name', text: 'Name' },
          { key: 'id', text: 'Number', right: true },
        ]}
        {...{ rows, selected, rowHeight, scroller }}
        marked={new Set(['2'])}
        idOf={({ id }) => id}
        renderRow={({ id, name }) => (
          <>
            <span role="gridcell">{name}</span>
            <span role="gridcell" className="m r">
              {id}
            </span>
          </>
        )}
        onSelect={nothing}
        onOpen={nothing}
        onEnd={nothing}
        onTop={nothing}
      />
    </div>
  );
}

export const states: readonly Specimen[] = [
  { name: '5,000 rows, one selected and one marked', shows: <Sample rows={LINES} selected={4} rowHeight={27} /> },
  { name: 'comfortable rows', shows: <Sample rows={LINES.slice(0, 5)} selected={-1} rowHeight={34} /> },
];
