import type { JsonObject } from '../../base/json.ts';
import type { SpawnPlan } from '../adapter.ts';
import { type GivenAttachment, isAddress } from '../attachments.ts';
import { promptText } from '../families/launch/prompt.ts';

/** The line that carries the prompt and what is attached to it. */
export function userMessage({ options, attachments = [] }: Pick<SpawnPlan, 'options' | 'attachments'>): string {
  return userLine([...attachments.map(blockOf), { type: 'text', text: promptText(options) }]);
}

/** A line of the user while the agent runs. */
export function userLine(content: readonly JsonObject[]): string {
  return JSON.stringify({ type: 'user', message: { role: 'user', content } });
}

/** The content of an attachment as the model gets it: the agent passes such blocks on. */
function blockOf(one: GivenAttachment): JsonObject {
  const type = one.kind === 'image' ? 'image' : 'document';
  if (isAddress(one)) return { type, source: { type: 'url', url: one.url } };
  const { kind, mimeType, name, bytes } = one;
  if (kind === 'text') return { type, source: { type: 'text', media_type: 'text/plain', data: bytes.toString('utf8') }, title: name };
  const source = { type: 'base64', media_type: mimeType, data: bytes.toString('base64') };
  return { type, source, ...(type === 'document' && { title: name }) };
}
