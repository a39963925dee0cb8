import { type JSX, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { Icon } from '../icon/icon.tsx';
import './chooser.css';

/** One of the lines that can be chosen. */
export interface Choice {
  readonly id: string;
  readonly group: string;
  readonly icon?: string;
  readonly text: JSX.Element | string;
  readonly hint?: JSX.Element | string;
  act(): void;
}

interface ChooserProps {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  readonly choices: readonly Choice[];
  /** Said where there is nothing to choose. */
  readonly nothing: string;
  onText(text: string): void;
  close(): void;
}

/** A field over a list: letters narrow it, arrows move in it, Enter takes the line. */
export function Chooser({ label, placeholder, text, choices, nothing, onText, close }: ChooserProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [at, setAt] = useState(0);
  const place = Math.max(0, Math.min(at, choices.length - 1));
  const chosen = choices[place];
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => dialog.current?.querySelector(`#choice-${place}`)?.scrollIntoView({ block: 'nearest' }), [place]);
  const steer = (event: KeyboardEvent): void => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move !== undefined) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(choices.length - 1, place + move)));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      chosen?.act();
    }
  };
  return (
    <dialog ref={dialog} className="chooser" aria-label={label} onClose={close}>
      <div className="in">
        <Icon name="search" size={16} />
        <input
          autoFocus
          role="combobox"
          aria-expanded={choices.length > 0}
          aria-controls={choices.length > 0 ? 'chooser-choices' : undefined}
          aria-activedescendant={chosen === undefined ? undefined : `choice-${place}`}
          aria-label={placeholder}
          placeholder={placeholder}
          value={text}
          onChange={(event) => {
            onText(event.target.value);
            setAt(0);
          }}
          onKeyDown={steer}
        />
        <kbd>Esc</kbd>
      </div>
      {choices.length === 0 ? (
        <p className="list g">{nothing}</p>
      ) : (
        <div id="chooser-choices" role="listbox" aria-label="Found" className="list">
          {choices.map((choice, index) => (
            <Line
              key={choice.id}
              choice={choice}
              index={index}
              chosen={choice === chosen}
              first={choices[index - 1]?.group !== choice.group}
            />
          ))}
        </div>
      )}
    </dialog>
  );
}

function Line(props: { readonly choice: Choice; readonly index: number; readonly chosen: boolean; readonly first: boolean }): JSX.Element {
  const { choice, index, chosen, first } = props;
  return (
    <>
      {first ? (
        <div className="g" role="presentation">
          {choice.group}
        </div>
      ) : null}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys are heard by the field, which keeps the focus */}
      <div id={`choice-${index}`} role="option" aria-selected={chosen} tabIndex={-1} className={chosen ? 'o on' : 'o'} onClick={choice.act}>
        {choice.icon === undefined ? null : <Icon name={choice.icon} />}
        <span className="grow el">{choice.text}</span>
        {choice.hint === undefined || choice.hint === '' ? null : <span className="hint">{choice.hint}</span>}
      </div>
    </>
  );
}
