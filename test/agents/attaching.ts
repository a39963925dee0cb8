import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { CapabilityError } from '../../src/contract/runs/run-error.ts';
import type { Attachment } from '../../src/contract/runs/run-options.ts';
import { no, type Scenario, yes } from './scenario.ts';
import type { Stage } from './stage.ts';
import { whyNot } from './why-not.ts';

const SIDE = 32;
const PASSWORD = 'marzipan-owl';

/** A grey square that every decoder takes. */
function png(): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(SIDE, 0);
  head.writeUInt32BE(SIDE, 4);
  head.set([8, 2], 8);
  // Every line begins with its filter, and has three bytes for a point.
  const lines = Buffer.concat(Array.from({ length: SIDE }, () => Buffer.concat([Buffer.from([0]), Buffer.alloc(SIDE * 3, 77)])));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', deflateSync(lines)), chunk('IEND', Buffer.alloc(0))]);
}

const PDF =
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n';

const FILES = [
  { kind: 'image', name: 'a.png', mimeType: 'image/png', bytes: png() },
  { kind: 'pdf', name: 'b.pdf', mimeType: 'application/pdf', bytes: Buffer.from(PDF) },
  { kind: 'text', name: 'c.txt', mimeType: 'text/plain', bytes: Buffer.from(`the password is ${PASSWORD}\n`) },
] as const;

/** An agent may make an image smaller before it sends it; there must be one all the same. */
const IMAGE_PART = /"(?:image_url|input_image|inlineData)"|"type":"image"/;

function reached(wire: string, { kind, bytes }: (typeof FILES)[number]): boolean {
  if (kind === 'text') return wire.includes(PASSWORD);
  return wire.includes(bytes.toString('base64')) || (kind === 'image' && IMAGE_PART.test(wire));
}

async function tried(stage: Stage, file: (typeof FILES)[number], attachment: Attachment): Promise<string> {
  try {
    const played = await stage.play({ attachments: [attachment] });
    const bodies = await Promise.all(played.calls.map((call) => stage.sent(call)));
    return reached(JSON.stringify(bodies), file) ? 'reaches the model' : `LOST: ${whyNot(played)}`;
  } catch (error) {
    if (error instanceof CapabilityError) return 'refused';
    throw error;
  }
}

export const attachments: Scenario = {
  name: 'attachments',
  about: 'an image, a PDF and a text, as a file and as base64: each is in the request to the engine, or refused before the start',
  async play(stage) {
    const folder = stage.workspace();
    const found: string[] = [];
    for (const file of FILES) {
      const { kind, name, mimeType, bytes } = file;
      const filePath = join(folder, name);
      writeFileSync(filePath, bytes);
      const asFile = await tried(stage, file, { filePath });
      const asText = asFile === 'refused' ? asFile : await tried(stage, file, { base64: bytes.toString('base64'), mimeType, name });
      found.push(`${kind} ${asFile === asText ? asFile : `${asFile} as a file, ${asText} as base64`}`);
    }
    const note = found.join('; ');
    return note.includes('LOST') ? no(note) : yes(note);
  },
};
