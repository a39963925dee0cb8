import type { JsonObject } from '../../base/json.ts';
import type { Attachment, RunOptions } from '../../contract/runs/run-options.ts';
import { promptText } from '../families/launch/prompt.ts';

/** The line that carries the prompt and what is attached to it. */
export function userMessage(options: RunOptions): string {
  const attachments = options.attachments ?? [];
  const mentions = attachments.map(mentionOf).filter((mention) => mention !== undefined);
  const text = [promptText(options), ...(mentions.length === 0 ? [] : [mentions.join('\n')])].join('\n\n');
  return userLine([...attachments.map(blockOf).filter((block) => block !== undefined), { type: 'text', text }]);
}

/** A line of the user while the agent runs. */
export function userLine(content: readonly JsonObject[]): string {
  return JSON.stringify({ type: 'user', message: { role: 'user', content } });
}

/** The agent puts a mentioned file into the conversation by itself, images too. */
function mentionOf({ filePath, url, mimeType = '' }: Attachment): string | undefined {
  if (filePath !== undefined) return `@"${filePath}"`;
  return url !== undefined && !isSeen(mimeType) ? url : undefined;
}

function blockOf({ base64, url, mimeType = '', name }: Attachment): JsonObject | undefined {
  const title = name === undefined ? {} : { title: name };
  const type = mimeType.startsWith('image/') ? 'image' : 'document';
  if (url !== undefined && isSeen(mimeType)) return { type, source: { type: 'url', url } };
  if (base64 === undefined) return undefined;
  if (isSeen(mimeType)) return { type, source: { type: 'base64', media_type: mimeType, data: base64 }, ...(type === 'document' && title) };
  const data = Buffer.from(base64, 'base64').toString('utf8');
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data }, ...title };
}

/** What the model takes as it is; everything else it can only read as text. */
function isSeen(mimeType: string): boolean {
  return mimeType.startsWith('image/') || mimeType === 'application/pdf';
}
