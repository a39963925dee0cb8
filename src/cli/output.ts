import pc from 'picocolors';
import type { SupportLevel } from '../contract/support.ts';
import type { Io } from './io.ts';

export type LevelWord = 'native' | 'emulated' | 'restricted' | 'unsupported';
type Tint = (text: string) => string;

/** The colours of the command; every member returns its text unchanged when colours are off. */
export interface Paint {
  readonly good: Tint;
  readonly warn: Tint;
  readonly bad: Tint;
  readonly strong: Tint;
  readonly faint: Tint;
  readonly level: (word: LevelWord) => string;
}

/** Writes what a command found: JSON for programs, a rendering for people. */
export interface Output {
  readonly json: boolean;
  readonly paint: Paint;
  print<T>(data: T, render: (data: T) => string): void;
}

export function createPaint(colour: boolean): Paint {
  const c = pc.createColors(colour);
  const levels: Record<LevelWord, Tint> = { native: c.green, emulated: c.yellow, restricted: c.magenta, unsupported: c.red };
  return { good: c.green, warn: c.yellow, bad: c.red, strong: c.bold, faint: c.dim, level: (word) => levels[word](word) };
}

export function createOutput(options: { readonly io: Io; readonly json: boolean; readonly colour: boolean }): Output {
  const { io, json } = options;
  return {
    json,
    paint: createPaint(options.colour && !json),
    print(data, render) {
      io.stdout.write(`${json ? JSON.stringify(data, null, 2) : render(data)}\n`);
    },
  };
}

export function levelWord(level: SupportLevel): LevelWord {
  return typeof level === 'string' ? level : 'restricted';
}
