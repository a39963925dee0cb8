import { useVirtualizer } from '@tanstack/react-virtual';
import { type JSX, type ReactNode, type RefObject, useEffect, useRef } from 'react';
import './data-list.css';

export interface DataListProps<T> {
  readonly label: string;
  readonly head: readonly { readonly key: string; readonly text: string; readonly title?: string; readonly right?: boolean }[];
  readonly rows: readonly T[];
  readonly rowHeight: number;
  readonly selected: number;
  readonly marked: ReadonlySet<string>;
  readonly scroller: RefObject<HTMLDivElement | null>;
  idOf(row: T): string;
  renderRow(row: T): ReactNode;
  classOf?(row: T): string;
  onSelect(index: number): void;
  onOpen(index: number): void;
  onEnd(): void;
  onTop(atTop: boolean): void;
}

/** Tells the head how much width the bar of the scroller takes from the rows: that differs between browsers and with the number of rows. */
function useScrollbarWidth(scroller: RefObject<HTMLDivElement | null>): RefObject<HTMLDivElement | null> {
  const rows = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const [box, inner] = [scroller.current, rows.current];
    if (box === null || inner === null) return undefined;
    const watch = new ResizeObserver(() => {
      box.parentElement?.style.setProperty('--scrollbar', `${box.offsetWidth - box.clientWidth}px`);
    });
    watch.observe(inner);
    return () => watch.disconnect();
  }, [scroller]);
  return rows;
}

/** A list of fixed rows of which only the visible ones exist. The focus roves: one row can be reached by Tab, the keys move it. */
export function DataList<T>(props: DataListProps<T>): JSX.Element {
  const { rows, rowHeight, selected, scroller } = props;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : props.idOf(row);
    },
  });
  const body = useScrollbarWidth(scroller);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - 20 && rows.length > 0) props.onEnd();
  }, [last, rows.length, props.onEnd]);
  useEffect(() => {
    if (selected >= 0) virtual.scrollToIndex(selected, { align: 'auto' });
  }, [selected, virtual]);
  return (
    <div className="data-list" role="grid" aria-label={props.label} aria-rowcount={rows.length + 1}>
      <div className="dl-head dl-row" role="row" aria-rowindex={1}>
        {props.head.map(({ key, text, title, right }) => (
          <span key={key} role="columnheader" className={right === true ? 'r' : ''} title={title}>
            {text}
          </span>
        ))}
      </div>
      <div className="dl-body" role="rowgroup" ref={scroller} onScroll={(event) => props.onTop(event.currentTarget.scrollTop < rowHeight)}>
        <div ref={body} role="presentation" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {items.map(({ index, start, key }) => {
            const row = rows[index];
            return row === undefined ? null : <Row key={String(key)} {...props} row={row} index={index} start={start} />;
          })}
        </div>
      </div>
    </div>
  );
}

interface RowProps<T> extends DataListProps<T> {
  readonly row: T;
  readonly index: number;
  readonly start: number;
}

function Row<T>({ row, index, start, selected, marked, idOf, renderRow, classOf, onSelect, onOpen, rowHeight }: RowProps<T>): JSX.Element {
  const chosen = index === selected;
  const classes = ['dl-row', chosen ? 'on' : '', marked.has(idOf(row)) ? 'marked' : '', classOf?.(row) ?? ''].filter(Boolean).join(' ');
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the page move and open; a row alone has none
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={chosen}
      tabIndex={chosen || (selected < 0 && index === 0) ? 0 : -1}
      className={classes}
      style={{ position: 'absolute', top: 0, left: 0, right: 0, height: rowHeight, transform: `translateY(${start}px)` }}
      onClick={() => onSelect(index)}
      onDoubleClick={() => onOpen(index)}
    >
      {renderRow(row)}
    </div>
  );
}
