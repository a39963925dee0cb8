import { type JSX, type KeyboardEvent, type RefObject, useState } from 'react';
import type { UrlState } from '../../base/url-state.ts';
import { Icon } from '../../components/icon/icon.tsx';
import { chipsOf, FILTER_NAMES, parseFilter, VALUES } from './filter.ts';

/** Values that were seen: engines, models, keys. */
export type Known = Readonly<Record<string, readonly string[]>>;

/** What begins as asked comes before what only holds it. */
function fitting(all: readonly string[], asked: string): readonly string[] {
  const wanted = asked.toLowerCase();
  const begins = (one: string): boolean => one.toLowerCase().startsWith(wanted);
  return [...all.filter(begins), ...all.filter((one) => !begins(one) && one.toLowerCase().includes(wanted))];
}

const MEASURES = ['cost>', 'duration>'];

/** Names and values that fit what is being typed. */
function offers(text: string, known: Known): readonly string[] {
  const word = text.split(/\s+/).at(-1) ?? '';
  const [name = '', value] = word.split(':');
  if (value === undefined) {
    return word === '' ? [] : [...FILTER_NAMES.map((one) => `${one}:`), ...MEASURES].filter((one) => one.startsWith(word) && one !== word);
  }
  const values = fitting([...(VALUES[name] ?? []), ...(known[name] ?? [])], value);
  return values.map((one) => `${name}:${one.includes(' ') ? `"${one}"` : one}`);
}

const LIST = 'filter-offers';
const MOST = 12;

interface Offered {
  readonly offered: readonly string[];
  /** The line that the arrows have reached; none at first, so that Enter takes what was typed. */
  readonly at: number;
  move(by: number): void;
  close(): void;
  reopen(): void;
}

function useOffers(text: string, known: Known): Offered {
  const [at, setAt] = useState(-1);
  const [closed, setClosed] = useState(true);
  const offered = closed ? [] : offers(text, known).slice(0, MOST);
  return {
    offered,
    at: Math.min(at, offered.length - 1),
    move: (by) => setAt(Math.max(-1, Math.min(offered.length - 1, at + by))),
    close: () => setClosed(true),
    reopen: () => {
      setClosed(false);
      setAt(-1);
    },
  };
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
  const { offered, at, move, close, reopen } = useOffers(text, props.known);
  const commit = (whole: string): void => {
    props.change(parseFilter(whole));
    setText('');
    close();
  };
  /** A name waits for its value; a value makes its word whole. */
  const take = (offer: string): void => {
    const whole = text.replace(/\S*$/, () => offer);
    if (/[:>]$/.test(offer)) {
      setText(whole);
      reopen();
    } else commit(whole);
  };
  const keys: Readonly<Record<string, (() => void) | undefined>> = {
    enter: () => (offered[at] === undefined ? commit(text) : take(offered[at])),
    arrowdown: offered.length === 0 ? undefined : () => move(1),
    arrowup: offered.length === 0 ? undefined : () => move(-1),
    // What it would not change it leaves alone: Tab goes on to what comes next.
    tab: offered.length === 0 ? undefined : () => take(offered[Math.max(0, at)] ?? ''),
    escape: offered.length > 0 ? close : () => props.field.current?.blur(),
    backspace: text !== '' || chips.length === 0 ? undefined : () => props.change({ [chips.at(-1)?.[0] ?? '']: undefined }),
  };
  const steer = (event: KeyboardEvent<HTMLInputElement>): void => {
    const act = event.shiftKey ? undefined : keys[event.key.toLowerCase()];
    if (act === undefined) return;
    event.preventDefault();
    act();
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
        role="combobox"
        aria-label="Filter runs"
        aria-autocomplete="list"
        aria-expanded={offered.length > 0}
        aria-controls={offered.length > 0 ? LIST : undefined}
        aria-activedescendant={at < 0 ? undefined : `${LIST}-${at}`}
        autoComplete="off"
        placeholder="engine: model: status: mode: fate: key: tag: cost> duration> text"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          reopen();
        }}
        onKeyDown={steer}
        onBlur={close}
      />
      {offered.length === 0 ? null : <Offers {...{ offered, at, take }} />}
      <kbd>/</kbd>
    </search>
  );
}

function Offers(props: { readonly offered: readonly string[]; readonly at: number; take(offer: string): void }): JSX.Element {
  return (
    <div id={LIST} role="listbox" aria-label="Names and values" className="floats offers m">
      {props.offered.map((offer, index) => (
        <div
          key={offer}
          id={`${LIST}-${index}`}
          role="option"
          aria-selected={index === props.at}
          tabIndex={-1}
          className={index === props.at ? 'on' : ''}
          // The field keeps the focus: losing it would close the list before it is pressed.
          onPointerDown={(event) => {
            event.preventDefault();
            props.take(offer);
          }}
        >
          {offer}
        </div>
      ))}
    </div>
  );
}
