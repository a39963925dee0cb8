import { useEffect, useRef } from 'react';

const OFF = 'abp.keys-off';
/** How long the second key of a pair may take. */
const PAIR_MS = 1200;

export function keysAreOff(): boolean {
  return localStorage.getItem(OFF) === 'true';
}

export function switchKeys(off: boolean): void {
  localStorage.setItem(OFF, String(off));
}

function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName) || target.closest('[data-typing]') !== null;
}

/** Keys that press what has the focus, where it can be pressed. */
const PRESSES: ReadonlySet<string> = new Set(['enter', ' ']);

function pressable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('button, a[href], summary') !== null;
}

/** `mod+k`, `escape`, `j`, `?`: how a key is named in the tables of keys. */
function nameOf(event: KeyboardEvent): string {
  const mod = event.metaKey || event.ctrlKey ? 'mod+' : '';
  const alt = event.altKey ? 'alt+' : '';
  const key = event.altKey && event.code.startsWith('Digit') ? event.code.slice(5) : event.key.toLowerCase();
  return `${mod}${alt}${key}`;
}

function isSingle(name: string): boolean {
  return !name.startsWith('mod+') && !name.startsWith('alt+') && name !== 'escape';
}

/** Whether a key belongs to something else than the page: to what floats above it, to a field, or to what it presses. */
function isOthers(name: string, target: EventTarget | null): boolean {
  // Escape closes what floats, and nothing behind it moves.
  if (document.querySelector('dialog:modal') !== null) return true;
  if (isSingle(name) && (typing(target) || keysAreOff())) return true;
  return PRESSES.has(name) && pressable(target);
}

/** Keys that go on while they are held. Every other one acts once: held, it would answer questions that nobody has looked at. */
const MOVES: ReadonlySet<string> = new Set(['j', 'k', 'arrowup', 'arrowdown', 'arrowleft', 'arrowright']);

let prefix = '';
let prefixAt = 0;

/** What a key means here: after G it is the name of a page and nothing else, so that G A never approves and G R never replays. */
function meaningOf(name: string): string {
  return isSingle(name) && prefix !== '' && performance.now() - prefixAt < PAIR_MS ? `${prefix} ${name}` : name;
}

/** Acts on keys while the component lives. Single letters are off while a field has the focus; `g r` is G, then R. */
export function useKeys(keys: Readonly<Record<string, (event: KeyboardEvent) => void>>, active = true): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    if (!active) return undefined;
    const listen = (event: KeyboardEvent): void => {
      // What a browser fills in for its user comes as a key without a name.
      if (typeof event.key !== 'string') return;
      const name = nameOf(event);
      if (event.defaultPrevented || isOthers(name, event.target) || (event.repeat && !MOVES.has(name))) return;
      const act = current.current[meaningOf(name)];
      if (act === undefined) return;
      event.preventDefault();
      act(event);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [active]);
}

/** Remembers G as the first key of a pair; mounted once, after all others have listened. */
export function rememberPrefix(event: KeyboardEvent): void {
  if (typing(event.target) || event.metaKey || event.ctrlKey || event.altKey) return;
  prefix = event.key.toLowerCase() === 'g' ? 'g' : '';
  prefixAt = performance.now();
}
