import { type JSX, useState } from 'react';
import type { Specimen } from '../../base/specimen.ts';
import { SchemaForm } from './schema-form.tsx';

const SCHEMA = {
  type: 'object',
  required: ['root'],
  properties: {
    root: { type: 'string', title: 'Folder', description: 'Where files are kept.' },
    mode: { enum: ['read', 'write'], description: 'What may be done.' },
    most: { type: 'integer', default: 100 },
    hidden: { type: 'boolean', description: 'Whether hidden files are shown.' },
    tags: { type: 'array', items: { type: 'string' } },
    limits: { type: 'object', title: 'Limits', properties: { bytes: { type: 'integer' } } },
    other: { description: 'Anything that is JSON.' },
  },
};

function Sample({ first }: { readonly first: Readonly<Record<string, unknown>> }): JSX.Element {
  const [value, setValue] = useState(first);
  return (
    <div className="column">
      <SchemaForm schema={SCHEMA} value={value} change={setValue} />
    </div>
  );
}

export const states: readonly Specimen[] = [
  { name: 'empty', shows: <Sample first={{}} /> },
  {
    name: 'filled in',
    shows: (
      <Sample first={{ root: '/srv/app', mode: 'write', most: 7, hidden: true, tags: ['a', 'b'], limits: { bytes: 9 }, other: { a: 1 } }} />
    ),
  },
];
