import { crc32 } from 'node:zlib';
import type { Conversation, Scan, Span } from '../../mapping/scan/scan.ts';
import { type CallOwner, shareOfOwner } from '../call.ts';

/** The conversation that a call belongs to, as far as a balancer wants to keep it in one place, and how long a cache of it lives. */
export interface Affinity {
  /** Equal for the calls of one conversation. Two conversations may share one by chance: they then share a deployment. */
  readonly key: number;
  readonly lifetimeMs: number;
}

/** Vendors keep a prompt for five minutes after its last use, or for an hour where the request asks for that. */
const LIFETIME_MS = 5 * 60_000;
const LONG_LIFETIME_MS = 60 * 60_000;

/** So many bytes at the beginning and at the end of the first message tell conversations apart. */
const TOLD_BYTES = 96;

/** Who says which conversation a call of a vendor's SDK belongs to. */
interface Told {
  readonly owner: Pick<CallOwner, 'parent'>;
  /** The caller's own name for its session, from a header. */
  readonly session: string | undefined;
  readonly text: Buffer;
  readonly scan: Pick<Scan, 'conversation' | 'cacheKey' | 'longCache'>;
}

/**
 * The affinity of a call whose body is read: the caller's session, else the run that it is part of, else the vendor's own word for it
 * (`prompt_cache_key`), else the beginning of the first message that a user wrote. Nothing is parsed: some bytes are hashed.
 */
export function affinityOf({ owner, session, text, scan }: Told): Affinity | undefined {
  const lifetimeMs = scan.longCache === true ? LONG_LIFETIME_MS : LIFETIME_MS;
  const name = session ?? owner.parent;
  if (name !== null && name !== undefined) return { key: crc32(name), lifetimeMs };
  const { cacheKey, conversation } = scan;
  if (cacheKey !== undefined) return { key: hashed(FIRST_HASH, text, cacheKey.start, cacheKey.end), lifetimeMs };
  return conversation === undefined ? undefined : { key: firstWords(text, conversation), lifetimeMs };
}

/** The affinity of a call whose bytes nobody reads: files and batches belong to the account that they were made with, so a caller stays where it is. */
export function unreadAffinity(owner: CallOwner, session: string | undefined): Affinity {
  return { key: crc32(session ?? owner.parent ?? shareOfOwner(owner)), lifetimeMs: LONG_LIFETIME_MS };
}

/** The affinity of a conversation that has a name of its own. */
export function namedAffinity(name: string): Affinity {
  return { key: crc32(name), lifetimeMs: LIFETIME_MS };
}

/** The hash of the first message of a user, by its beginning and its end. System prompts before it are the same for many conversations. */
function firstWords(text: Buffer, conversation: Conversation): number {
  const { start, end } = firstMessage(text, conversation);
  const words = wordsEnd(text, start, end);
  const head = Math.min(words, start + TOLD_BYTES);
  return hashed(hashed(FIRST_HASH, text, start, head), text, Math.max(head, words - TOLD_BYTES), words);
}

function firstMessage(text: Buffer, { start, end, ends }: Conversation): Span {
  let from = start + 1;
  for (const until of ends) {
    if (isUsers(text, from, until)) return { start: from, end: until };
    from = until + 1;
  }
  // The last message ends before the closing bracket of the list.
  if (isUsers(text, from, end - 1)) return { start: from, end: end - 1 };
  return { start: start + 1, end: ends[0] ?? end - 1 };
}

/** A role stands at the beginning of a message, or at its end. */
const ROLE_BYTES = 48;
const [ROLE, USER, MARK] = ['"role"', '"user"', '"cache_control"'].map((word) => Buffer.from(word)) as [Buffer, Buffer, Buffer]; // one of each

function isUsers(text: Buffer, start: number, end: number): boolean {
  const head = Math.min(end, start + ROLE_BYTES);
  if (found(text, USER, start, head) !== -1) return true;
  // A role that is there is another one.
  return found(text, ROLE, start, head) === -1 && found(text, USER, Math.max(start, end - ROLE_BYTES), end) !== -1;
}

/** A mark for the vendor's cache, with the spaces that some people write. */
const MARK_BYTES = 96;
/** Bytes that close a message, or stand before its next member. */
const TAIL = new Set(Buffer.from('}], \t\r\n'));

/** Where the words of a message end. Marks for the cache move from call to call, so whether one follows must not matter. */
function wordsEnd(text: Buffer, start: number, until: number): number {
  const mark = found(text, MARK, Math.max(start, until - MARK_BYTES), until);
  let end = mark === -1 ? until : mark;
  while (end > start && TAIL.has(text[end - 1] ?? 0)) end -= 1;
  return end;
}

/** Where a word begins between two offsets; -1 where it does not. On so few bytes a loop is quicker than a search by the runtime. */
function found(text: Buffer, word: Buffer, from: number, until: number): number {
  for (let at = from; at <= until - word.length; at += 1) if (text[at] === word[0] && isAt(text, word, at)) return at;
  return -1;
}

function isAt(text: Buffer, word: Buffer, at: number): boolean {
  for (let index = 1; index < word.length; index += 1) if (text[at + index] !== word[index]) return false;
  return true;
}

/** FNV-1a. */
const FIRST_HASH = 0x811c_9dc5;
const PRIME = 0x0100_0193;

function hashed(before: number, text: Buffer, from: number, until: number): number {
  let hash = before;
  for (let at = from; at < until; at += 1) hash = Math.imul(hash ^ (text[at] ?? 0), PRIME);
  return hash >>> 0;
}
