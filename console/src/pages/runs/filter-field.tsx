import { type JSX, type KeyboardEvent, type RefObject, useState } from 'react';
import type { UrlState } from '../../base/url-state.ts';
import { Icon } from '../../components/icon/icon.tsx';
import { chipsOf, FILTER_NAMES, parseFilter, VALUES } from './filter.ts';

/** Values that were seen: engines, models, keys. */
export type Known = Readonly<Record<string, readonly string[]>>;

/** Names and values that fit what is being typed. */
function offers(text: string, known: Known): readonly string[] {
  const word = text.split(/\s+/).at(-1) ?? '';
  const [name = '', value] = word.split(':');
  if (value === undefined) return word === '' ? [] : FILTER_NAMES.filter((one) => one.startsWith(word)).map((one) => `${one}:`);
  const values = [...(VALUES[name] ?? []), ...(known[name] ?? [])];
  return values.filter((one) => one.startsWith(value)).map((one) => `${name}:${one.includes(' ') ? `"${one}"` : one}`);
}

/** The filter language. Finished words become chips, and the address has the same. */
export function FilterField(props: {
  readonly state: UrlState;
  readonly known: Known;
  readonly field: RefObject<HTMLInputElement | null>;
  change(next: UrlState): void;
}): JSX.Element {
  const [text, setText] = useState('');
  const chips = chipsOf(props.state);
  const offered = offers(text, props.known);
  const commit = (): void => {
    props.change(parseFilter(text));
    setText('');
  };
  const steer = (event: KeyboardEvent<HTMLInputElement>): void => {
    const [first] = offered;
    if (event.key === 'Enter') commit();
    else if (event.key === 'Tab' && first !== undefined && text !== '') {
      event.preventDefault();
      setText(text.replace(/\S*$/, first));
    } else if (event.key === 'Backspace' && text === '') {
      const last = chips.at(-1);
      if (last !== undefined) props.change({ [last[0]]: undefined });
    } else if (event.key === 'Escape') event.currentTarget.blur();
  };
  return (
    <search className="q">
      <Icon name="search" />
      {chips.map(([name, words]) => (
        <button key={name} type="button" className="tok" onClick={() => props.change({ [name]: undefined })} title="remove">
          <b>{words}</b> ×
        </button>
      ))}
      <input
        ref={props.field}
        aria-label="Filter runs"
        list="filter-offers"
        placeholder="engine: model: status: mode: fate: key: tag: cost> duration> text"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={steer}
      />
      <datalist id="filter-offers">
        {offered.map((offer) => (
          <option key={offer} value={text.replace(/\S*$/, offer)} />
        ))}
      </datalist>
      <kbd>/</kbd>
    </search>
  );
}
