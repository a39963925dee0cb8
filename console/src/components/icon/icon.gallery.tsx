import type { JSX } from 'react';
import type { Specimen } from '../../base/specimen.ts';
import { Icon } from './icon.tsx';
import sprite from './sprite.svg?raw';

const NAMES = [...sprite.matchAll(/id="([\w-]+)"/g)].flatMap(([, name]) => name ?? []);

function All({ size }: { readonly size: number }): JSX.Element {
  return (
    <div className="icons">
      {NAMES.map((name) => (
        <span key={name} className="row">
          <Icon name={name} size={size} /> {name}
        </span>
      ))}
    </div>
  );
}

export const states: readonly Specimen[] = [
  { name: 'all outlines of the sprite', shows: <All size={16} /> },
  { name: 'large', shows: <All size={40} /> },
];
