import type { JSX } from 'react';
import sprite from './sprite.svg?url';

/** Where an outline of the sprite is. */
export function iconAddress(name: string): string {
  return `${sprite}#${name}`;
}

/** An outline of the sprite. It says nothing to a screen reader: the word is beside it, or in `label`. */
export function Icon({ name, size = 14, label }: { readonly name: string; readonly size?: number; readonly label?: string }): JSX.Element {
  return (
    <>
      <svg className="ic" width={size} height={size} aria-hidden="true">
        <use href={iconAddress(name)} />
      </svg>
      {label === undefined ? null : <span className="sr">{label}</span>}
    </>
  );
}
