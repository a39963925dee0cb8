import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Adapter } from '../../adapters/adapter.ts';
import { type AttachmentKind, type AttachmentRule, type GivenAttachment, kindOfType, namedType } from '../../adapters/attachments.ts';
import { lookAt } from '../../base/paths/look-at.ts';
import { CapabilityError, type FieldFault, ValidationError } from '../../contract/runs/run-error.ts';
import type { Attachment, RunOptions } from '../../contract/runs/run-options.ts';
import { chooseEngine } from '../../engines/index.ts';
import type { Traffic } from './traffic.ts';

/** The attachments of one run, all together: more than any vendor takes in a request. */
const MOST_BYTES = 32 * 1024 * 1024;
/** Enough of a file to tell a text, a PDF and an image apart. */
const HEAD_BYTES = 8192;
const FOLDER = 'attachments';

const NOUNS: Readonly<Record<AttachmentKind, string>> = {
  image: 'images',
  pdf: 'PDF files',
  text: 'text files',
  other: 'files of this kind',
};
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

type Attaching = Pick<Adapter, 'agent' | 'attachments'>;

/**
 * Refuses before anything is started what would not reach the model: files that are not there, and kinds that the agent does not pass on.
 * Whether its model takes them is asked by the gates, where the model is known.
 */
export function checkAttachments(adapter: Attaching, { attachments = [] }: RunOptions): void {
  const faults = attachments.flatMap((one, at) => faultOf(one).map((message) => ({ field: `attachments[${at}]`, message })));
  if (faults.length > 0) throw new ValidationError(faults);
  assertTogether(attachments);
  if (adapter.attachments === undefined) return;
  for (const one of attachments) assertPassedOn(adapter.agent, adapter.attachments, one, typeOf(one).kind);
}

/** The engine of the run is known: it must take what is attached, or nothing is started. */
export function assertEngineTakes({ agent }: Pick<Adapter, 'agent'>, { attachments = [] }: RunOptions, traffic: Traffic): void {
  if (traffic.kind === 'direct' || attachments.length === 0) return;
  const engine = chooseEngine(traffic.engine)?.engine;
  for (const one of attachments) {
    const { kind } = typeOf(one);
    const capability = kind === 'image' ? 'image_input' : 'pdf_input';
    if (kind === 'text' || engine === undefined || engine.manifest[capability] !== 'unsupported') continue;
    throw refusal(agent, kind, `Engine '${engine.id}' does not take ${NOUNS[kind]}`);
  }
}

/** Reads what is attached, and puts it into the folder of the run, where an agent in a room finds it too. */
export async function readAttachments({ attachments = [] }: RunOptions, runFolder: string): Promise<readonly GivenAttachment[]> {
  const given: GivenAttachment[] = [];
  for (const [at, one] of attachments.entries()) {
    const known = typeOf(one);
    if (one.url !== undefined) {
      given.push({ ...known, url: one.url });
      continue;
    }
    const bytes = one.filePath === undefined ? Buffer.from(one.base64 ?? '', 'base64') : await readFile(one.filePath);
    const folder = join(runFolder, FOLDER, String(at));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, fileName(known.name));
    await writeFile(path, bytes, { mode: 0o600 });
    given.push({ ...known, path, bytes });
  }
  return given;
}

/** Texts that stand in the prompt, because the agent has no other place for them; the receipt says so. */
export function textsInPrompt({ attachments }: Attaching, given: readonly GivenAttachment[] = []): readonly string[] {
  return attachments?.text === 'prompt' ? given.filter(({ kind }) => kind === 'text').map(({ name }) => name) : [];
}

function assertPassedOn(agent: string, rule: AttachmentRule, { url }: Attachment, kind: AttachmentKind): void {
  const way = kind === 'other' ? undefined : rule[kind];
  if (way === undefined) throw refusal(agent, kind, `Agent '${agent}' passes no ${NOUNS[kind]} on to its model`);
  if (url === undefined || rule.addresses?.includes(kind) === true) return;
  const message = `Agent '${agent}' takes ${NOUNS[kind]} as a file or as base64, not by an address; fetch it first, or write the address into the prompt`;
  throw refusal(agent, kind, message);
}

function refusal(agent: string, kind: AttachmentKind, message: string): CapabilityError {
  const capability = kind === 'image' ? 'imageInput' : 'fileAttachments';
  return new CapabilityError({ agent, capability, message });
}

function faultOf({ filePath, base64 }: Attachment): readonly FieldFault['message'][] {
  if (base64 !== undefined) return BASE64.test(base64.replaceAll(/\s/g, '')) ? [] : ['base64 must be base64, and not empty'];
  if (filePath === undefined) return [];
  const { stats, fault } = lookAt(filePath);
  if (stats === undefined) return [`filePath names no file: ${filePath} ${fault}`];
  if (!stats.isFile()) return [`filePath must be a file: ${filePath}`];
  return stats.size === 0 ? [`filePath is an empty file: ${filePath}`] : [];
}

function assertTogether(attachments: readonly Attachment[]): void {
  const sizes = attachments.map(({ filePath, base64 = '' }) => (filePath === undefined ? base64.length * 0.75 : statSync(filePath).size));
  const bytes = Math.ceil(sizes.reduce((sum, size) => sum + size, 0));
  if (bytes <= MOST_BYTES) return;
  throw new ValidationError([{ field: 'attachments', message: `have ${bytes} bytes together; ${MOST_BYTES} is the most` }]);
}

type Known = Pick<GivenAttachment, 'kind' | 'mimeType' | 'name'>;

/** By the media type that is named, else by the name, else by the first bytes. */
function typeOf(one: Attachment): Known {
  const name = one.name ?? (one.filePath === undefined ? 'attachment' : basename(one.filePath));
  const mimeType = namedType(one) ?? typeOfBytes(headOf(one));
  return { kind: kindOfType(mimeType), mimeType, name };
}

function headOf({ filePath, base64 = '' }: Attachment): Buffer {
  if (filePath === undefined) return Buffer.from(base64.slice(0, HEAD_BYTES), 'base64');
  const file = openSync(filePath, 'r');
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    return head.subarray(0, readSync(file, head));
  } finally {
    closeSync(file);
  }
}

const BEGINNINGS: readonly (readonly [hex: string, mimeType: string])[] = [
  ['25504446', 'application/pdf'],
  ['89504e47', 'image/png'],
  ['ffd8ff', 'image/jpeg'],
  ['47494638', 'image/gif'],
];

/** The end of the head may cut a character of several bytes. */
function typeOfBytes(head: Buffer): string {
  const begins = BEGINNINGS.find(([hex]) => head.subarray(0, hex.length / 2).toString('hex') === hex);
  if (begins !== undefined) return begins[1];
  const isText = !head.includes(0) && [0, 1, 2, 3].some((cut) => isUtf8(head.subarray(0, head.length - cut)));
  return isText ? 'text/plain' : 'application/octet-stream';
}

/** A name that is one file in every folder, whatever the caller has called it. */
function fileName(name: string): string {
  const plain = basename(name)
    .replaceAll(/[^\w.-]+/g, '_')
    .slice(-100);
  return /^\.*$/.test(plain) ? 'attachment' : plain;
}
