import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { lineDiff, type Piece } from '../../base/line-diff.ts';
import type { Change, ChangeSet } from './change-set.ts';
import type { TreeNode } from './tree.ts';

const CONTEXT = 3;
const NOTHING = '0'.repeat(40);
const EMPTY = Buffer.alloc(0);

/** The contents of a path before and after; undefined where they are too large or not at hand any more. */
export interface Contents {
  before(change: Change): Buffer | undefined;
  after(change: Change): Buffer | undefined;
}

/** The change set as a patch for people and for `git apply`, binary files included. Folders have no place in it. */
export function patchOf({ changes }: ChangeSet, contents: Contents): string {
  return changes.map((change) => partOf(change, contents)).join('');
}

/** Git's word for the kind and the rights of a file; undefined for anything that is no file. */
function modeOf(node: TreeNode | null): string | undefined {
  if (node?.type === 'link') return '120000';
  if (node?.type === 'file') return node.executable ? '100755' : '100644';
  return undefined;
}

interface Side {
  readonly mode: string | undefined;
  /** Undefined when it cannot be shown. */
  readonly bytes: Buffer | undefined;
}

function partOf(change: Change, contents: Contents): string {
  const before = sideOf(change.before, () => contents.before(change));
  const after = sideOf(change.after, () => contents.after(change));
  if (before.mode === undefined && after.mode === undefined) return '';
  const isLink = (side: Side): boolean => side.mode === '120000';
  // A link that becomes a file is one thing taken away and another put in its place.
  if (before.mode !== undefined && after.mode !== undefined && isLink(before) !== isLink(after)) {
    return partOf({ ...change, after: null }, contents) + partOf({ ...change, before: null }, contents);
  }
  const head = headOf(change.path, before, after);
  if (before.bytes === undefined || after.bytes === undefined) return `${head}# the content is too large, or gone: it is not shown\n`;
  if (before.bytes.equals(after.bytes)) return before.mode !== undefined && after.mode !== undefined ? head : head + indexOf(before, after);
  return head + indexOf(before, after) + bodyOf(change.path, before, after);
}

function sideOf(node: TreeNode | null, content: () => Buffer | undefined): Side {
  const mode = modeOf(node);
  if (mode === undefined || node === null) return { mode, bytes: EMPTY };
  return { mode, bytes: node.type === 'link' ? Buffer.from(node.target, 'latin1') : content() };
}

function headOf(path: string, before: Side, after: Side): string {
  const lines = [`diff --git ${quoted(`a/${path}`)} ${quoted(`b/${path}`)}`];
  if (before.mode === undefined) lines.push(`new file mode ${after.mode}`);
  else if (after.mode === undefined) lines.push(`deleted file mode ${before.mode}`);
  else if (before.mode !== after.mode) lines.push(`old mode ${before.mode}`, `new mode ${after.mode}`);
  return `${lines.join('\n')}\n`;
}

function indexOf(before: Side, after: Side): string {
  return `index ${blobId(before)}..${blobId(after)}${before.mode === after.mode ? ` ${after.mode}` : ''}\n`;
}

function blobId({ mode, bytes = EMPTY }: Side): string {
  return mode === undefined ? NOTHING : createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

function bodyOf(path: string, before: Side, after: Side): string {
  const [a, b] = [before.bytes ?? EMPTY, after.bytes ?? EMPTY];
  if (!isText(a) || !isText(b)) return `GIT binary patch\n${literal(b)}\n${literal(a)}\n`;
  const from = before.mode === undefined ? '/dev/null' : quoted(`a/${path}`);
  const to = after.mode === undefined ? '/dev/null' : quoted(`b/${path}`);
  // Git takes a tab after a name with a space for the end of that name.
  const ended = (name: string): string => (name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name);
  return `--- ${ended(from)}\n+++ ${ended(to)}\n${hunksOf(lineDiff(linesOf(a), linesOf(b)))}`;
}

/** Without a NUL near its beginning, and text in UTF-8 all through: a patch is text. */
function isText(bytes: Buffer): boolean {
  return !bytes.subarray(0, 8192).includes(0) && bytes.equals(Buffer.from(bytes.toString('utf8'), 'utf8'));
}

/** Lines with their ends. */
function linesOf(bytes: Buffer): string[] {
  return bytes.length === 0 ? [] : bytes.toString('utf8').split(/(?<=\n)/);
}

/** Lines as they stand in a patch, with the sign of their piece. */
interface Signed {
  readonly sign: ' ' | '-' | '+';
  readonly line: string;
}

const SIGNS = { equal: ' ', removed: '-', added: '+' } as const;

/** Changes with the lines around them; those that are close to each other stand in one hunk. */
function hunksOf(pieces: readonly Piece[]): string {
  const all = pieces.flatMap(({ kind, lines }) => lines.map((line): Signed => ({ sign: SIGNS[kind], line })));
  const changed = all.flatMap(({ sign }, at) => (sign === ' ' ? [] : [at]));
  const ranges: [from: number, to: number][] = [];
  for (const at of changed) {
    const last = ranges.at(-1);
    const [from, to] = [Math.max(0, at - CONTEXT), Math.min(all.length, at + CONTEXT + 1)];
    if (last !== undefined && from <= last[1]) last[1] = to;
    else ranges.push([from, to]);
  }
  const hunks: string[] = [];
  let [position, lineA, lineB] = [0, 1, 1];
  for (const [from, to] of ranges) {
    const skipped = from - position;
    const lines = all.slice(from, to);
    const [countA, countB] = [lines.filter(({ sign }) => sign !== '+').length, lines.filter(({ sign }) => sign !== '-').length];
    [lineA, lineB] = [lineA + skipped, lineB + skipped];
    hunks.push(`@@ -${range(lineA, countA)} +${range(lineB, countB)} @@\n${lines.map(shown).join('')}`);
    [position, lineA, lineB] = [to, lineA + countA, lineB + countB];
  }
  return hunks.join('');
}

function range(start: number, count: number): string {
  if (count === 1) return String(start);
  return `${count === 0 ? start - 1 : start},${count}`;
}

function shown({ sign, line }: Signed): string {
  return line.endsWith('\n') ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`;
}

/** A name with characters that a patch cannot hold is quoted as git does. */
function quoted(name: string): string {
  const escaped = [...Buffer.from(name, 'utf8')].map((byte) => {
    if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
    return byte < 0x20 || byte > 0x7e ? `\\${byte.toString(8).padStart(3, '0')}` : String.fromCharCode(byte);
  });
  return escaped.length === name.length && escaped.join('') === name ? name : `"${escaped.join('')}"`;
}

const BASE85 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
const LINE_BYTES = 52;

/** A whole file in git's binary form. */
function literal(bytes: Buffer): string {
  const packed = deflateSync(bytes);
  const lines: string[] = [];
  for (let at = 0; at < packed.length; at += LINE_BYTES) {
    const part = packed.subarray(at, at + LINE_BYTES);
    const length = String.fromCharCode(part.length <= 26 ? 64 + part.length : 96 + part.length - 26);
    lines.push(length + base85(part));
  }
  return `literal ${bytes.length}\n${lines.join('\n')}\n`;
}

function base85(part: Buffer): string {
  const padded = Buffer.concat([part, Buffer.alloc((4 - (part.length % 4)) % 4)]);
  let text = '';
  for (let at = 0; at < padded.length; at += 4) {
    let value = padded.readUInt32BE(at);
    const digits: string[] = [];
    for (let digit = 0; digit < 5; digit += 1) {
      digits.unshift(BASE85[value % 85] ?? '');
      value = Math.floor(value / 85);
    }
    text += digits.join('');
  }
  return text;
}
