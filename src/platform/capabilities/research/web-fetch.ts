import { z } from 'zod';
import type { JsonObject } from '../../../base/json.ts';
import type { Outbound, OutboundAnswer } from '../../../upstream/outbound.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { type Tool, ToolFailure } from '../../tools/tool.ts';
import { htmlToText } from './html-to-text.ts';

const MAX_BYTES = 2 * 1024 * 1024;
const MAX_CHARACTERS = 50_000;
const TEXT = /^(?:text\/|application\/(?:json|xml|javascript|[\w.-]+\+(?:json|xml))\b)/;

export function webFetch(outbound: Outbound): Tool {
  return defineTool({
    name: 'web_fetch',
    description: 'Fetch a public web page or text file by its address. HTML is returned as plain text.',
    parameters: z.strictObject({
      url: z.string().max(4000).describe('An http or https address.'),
      offset: z.int().min(0).default(0).describe('Characters to skip, to read on where an earlier answer was cut.'),
    }),
    timeoutMs: 40_000,
    run: async ({ url, offset }, { signal }) => {
      const answer = await outbound.read(
        { url, signal, headers: { accept: 'text/html, text/*;q=0.9, application/json;q=0.8, */*;q=0.1' } },
        MAX_BYTES,
      );
      if (answer.status >= 400) throw new ToolFailure(`${answer.url} answered ${answer.status}.`);
      return page(answer, offset);
    },
  });
}

function page(answer: OutboundAnswer, offset: number): JsonObject {
  const contentType = answer.headers['content-type'] ?? 'application/octet-stream';
  if (!TEXT.test(contentType)) throw new ToolFailure(`${answer.url} is ${contentType}, which is not text.`);
  const raw = decoded(answer.body, contentType);
  const text = contentType.startsWith('text/html') ? htmlToText(raw) : raw;
  const content = text.slice(offset, offset + MAX_CHARACTERS);
  const cut = answer.truncated || offset + MAX_CHARACTERS < text.length;
  const head = { url: answer.url, status_code: answer.status, content_type: contentType, content, truncated: cut };
  return cut && content !== '' ? { ...head, next_offset: offset + content.length } : head;
}

function decoded(body: Buffer, contentType: string): string {
  const charset = /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    // A charset that nobody knows; most of what is not UTF-8 is still readable as it.
    return new TextDecoder().decode(body);
  }
}
