import type { JSX } from 'react';

/** One state of a component, as its page of the gallery shows it. */
export interface Specimen {
  readonly name: string;
  /** What is shown in its place on the page. */
  readonly shows?: JSX.Element;
  /** What opens over the page, at the push of a button. */
  floats?(close: () => void): JSX.Element;
  /** What the component would be told by a server: nobody is asked in the gallery. An error stands for an answer that failed. */
  readonly answers?: readonly (readonly [key: readonly unknown[], answer: unknown])[];
}
