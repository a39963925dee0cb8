import { type JSX, useEffect, useRef, useState } from 'react';
import { keysAreOff, switchKeys } from '../../base/keys.ts';
import { Button, Keys } from '../bits/bits.tsx';
import './key-sheet.css';

const SHEET: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'Everywhere',
    [
      ['⌘K', 'palette'],
      ['/', 'filter'],
      ['?', 'these keys'],
      ['G', 'then H R P M A C U S: a page'],
      ['G I', 'inbox'],
      ['T', 'light or dark'],
      ['Esc', 'close the innermost thing'],
    ],
  ],
  [
    'Runs',
    [
      ['J K', 'next, previous'],
      ['Enter', 'open'],
      ['Space', 'peek'],
      ['X', 'mark'],
      ['C', 'compare with the marked one'],
      ['R', 'replay'],
      ['P', 'Playground'],
      ['Y', 'copy id'],
      ['← →', 'choose a cell'],
      ['F', 'filter by the cell’s value'],
      ['L', 'live'],
      ['[ ]', 'previous, next view'],
    ],
  ],
  [
    'A run',
    [
      ['1–7', 'tabs'],
      ['J K', 'next, previous of the list'],
      ['V', 'verify again'],
      ['E', 'export line'],
      ['P R C Y', 'as in the list'],
    ],
  ],
  [
    'A coding agent’s run',
    [
      ['J K', 'next, previous step'],
      ['A', 'approve'],
      ['D', 'deny, with a reason'],
      ['O', 'open the receipt of the call'],
      ['.', 'to the live end'],
      ['C Y', 'as in the list'],
    ],
  ],
  [
    'Compare',
    [
      ['S', 'swap'],
      ['C', 'choose another'],
    ],
  ],
  [
    'Playground',
    [
      ['⌘↵', 'send'],
      ['⌘O', 'load a run'],
      ['⌥1–⌥9', 'show engine n of the list'],
      ['Esc', 'stop the answer'],
    ],
  ],
  [
    'Matrix',
    [
      ['← ↑ → ↓', 'move the cell'],
      ['Enter', 'pin the pane'],
      ['P', 'this cell in the Playground'],
    ],
  ],
  [
    'Agents',
    [
      ['N', 'new agent'],
      ['⌥↑ ⌥↓', 'move a capability'],
      ['A', 'approve'],
      ['D', 'deny'],
    ],
  ],
  [
    'Coding agents, inbox',
    [
      ['N', 'new run'],
      ['J K', 'next, previous'],
      ['A', 'approve'],
      ['D', 'deny'],
      ['O', 'open run or session'],
    ],
  ],
];

/** All keys on one sheet, and the switch that turns single letters off. */
export function KeySheet({ close }: { close(): void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [off, setOff] = useState(keysAreOff);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="key-sheet" aria-label="Keys" onClose={close}>
      <div className="sheet">
        {SHEET.map(([title, keys]) => (
          <section key={title}>
            <h2>{title}</h2>
            <dl className="kv">
              {keys.map(([key, does]) => (
                <div key={key}>
                  <dt>
                    <Keys keys={key} />
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <div className="row foot2">
        <label className="row grow">
          <input
            type="checkbox"
            checked={!off}
            onChange={(event) => {
              switchKeys(!event.target.checked);
              setOff(!event.target.checked);
            }}
          />
          Single letters act
        </label>
        <Button onClick={() => dialog.current?.close()} keys="Esc">
          Close
        </Button>
      </div>
    </dialog>
  );
}
