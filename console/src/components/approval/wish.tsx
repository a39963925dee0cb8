import type { JSX } from 'react';
import type { Interaction } from '../../api/interactions.ts';

export interface Wish {
  readonly words: string;
  readonly tag: string | null;
  /** The file it is about. */
  readonly path: string | null;
  readonly diff: { readonly before: string; readonly after: string } | null;
}

function member(input: unknown, ...names: readonly string[]): string | null {
  if (typeof input !== 'object' || input === null) return null;
  for (const name of names) {
    const value: unknown = Reflect.get(input, name);
    if (typeof value === 'string') return value;
  }
  return null;
}

/** What is wanted, in words that come from the tool's own arguments. Nothing is guessed about what a command does. */
export function wishOf({ kind, tool, input }: Interaction): Wish {
  if (kind === 'input') return { words: 'asks', tag: null, path: null, diff: null };
  const path = member(input, 'file_path', 'path', 'filePath');
  const after = member(input, 'new_string', 'content', 'newText');
  if (path !== null && after !== null)
    return { words: 'wants to write', tag: tool, path, diff: { before: member(input, 'old_string', 'oldText') ?? '', after } };
  if (member(input, 'command', 'cmd') !== null) return { words: 'wants to run a command', tag: tool, path: null, diff: null };
  return { words: `wants to call ${tool ?? 'a tool'}`, tag: null, path: null, diff: null };
}

/** The command, or the arguments, exactly. */
export function WishBody({ item }: { readonly item: Interaction }): JSX.Element {
  const command = member(item.input, 'command', 'cmd');
  const text = command === null ? (typeof item.input === 'string' ? item.input : JSON.stringify(item.input, null, 2)) : `$ ${command}`;
  return <pre className="code">{text}</pre>;
}
