import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { SpawnPlan } from '../../src/adapters/adapter.ts';
import type { AttachedFile } from '../../src/adapters/attachments.ts';
import { checkRunOptions } from '../../src/adapters/gates.ts';
import { adapters } from '../../src/adapters/index.ts';
import type { Attachment, RunOptions } from '../../src/contract/runs/run-options.ts';
import { createModelRegistry } from '../../src/models/registry.ts';
import { assertEngineTakes, checkAttachments } from '../../src/runtime/runs/attachments.ts';
import { attached, GATEWAY, planOf } from '../support/dialogue.ts';

const folder = mkdtempSync(join(tmpdir(), 'abp-attachments-'));
afterAll(() => rmSync(folder, { recursive: true }));
const MARK = 'marzipan';
const KINDS = ['image', 'pdf', 'text'] as const;
const NAMES = { image: 'a.png', pdf: 'b.pdf', text: 'c.txt' } as const;
for (const kind of KINDS) writeFileSync(join(folder, NAMES[kind]), MARK);

const registry = createModelRegistry({ sources: adapters, discover: async () => [] });

/** Everything that the agent is given at the start, and after each word of its own, as one text. */
function handed(agent: (typeof adapters)[number], plan: SpawnPlan): string {
  const { args, input, files } = agent.spawn(plan);
  const talk = agent.dialogue(plan);
  // Enough of ACP and of the app-server for the prompt to be sent.
  const answers = [
    { jsonrpc: '2.0', id: 0, result: { protocolVersion: 1 } },
    { jsonrpc: '2.0', id: 1, result: { sessionId: 's' } },
    { id: 'initialize', result: {} },
    { id: 'thread', result: { thread: { id: 't' } } },
  ];
  const sent = [...talk.begin(), ...answers.flatMap((answer) => talk.line(JSON.stringify(answer)).send ?? [])];
  return [...args, input ?? '', JSON.stringify(files), ...sent].join('\n');
}

/** Whether an agent that was handed this has the attachment: the text, the bytes, or the file itself by an option of its own. */
function holds(told: string, { kind, path, bytes }: AttachedFile): boolean {
  if (kind === 'text') return told.includes(MARK);
  return told.includes(bytes.toString('base64')) || told.includes(path);
}

const FORMS: readonly (readonly [string, Partial<SpawnPlan>, Partial<RunOptions>])[] = [
  ['a run of one prompt', {}, {}],
  ['a run that asks', { answerable: true }, { approvalMode: 'prompt' }],
  ['a run without the gateway', {}, {}],
];

describe.each(adapters.map((adapter) => [adapter.agent, adapter] as const))('%s', (agent, adapter) => {
  describe.each(KINDS)('%s', (kind) => {
    const attachment = { filePath: join(folder, NAMES[kind]) };

    function refused(): boolean {
      const effective = { ...adapter.capabilities, ...adapter.detect.effective('9999.0.0') };
      const options = { agent, prompt: 'look', attachments: [attachment] };
      try {
        checkRunOptions(adapter, effective, registry, options);
        checkAttachments(adapter, options);
        return false;
      } catch (error) {
        expect(error).toMatchObject({ code: 'CAPABILITY_ERROR' });
        return true;
      }
    }

    it.each(FORMS)('is handed over or refused before the start: %s', (form, plan, options) => {
      if (refused()) return;
      const file = attached(kind, NAMES[kind], MARK);
      const gateway = form === 'a run without the gateway' ? {} : { gateway: GATEWAY };
      expect(holds(handed(adapter, planOf(agent, options, { ...gateway, ...plan, attachments: [file] })), file)).toBe(true);
    });
  });
});

describe('before anything is started', () => {
  const claude = { agent: 'claude', attachments: { image: 'content', text: 'content', addresses: ['image'] } } as const;
  const check = (attachments: readonly Attachment[]): void =>
    checkAttachments(claude, { agent: 'claude', prompt: 'p', attachments: [...attachments] });

  it.each([
    ['a file that is not there', { filePath: join(folder, 'missing.png') }, 'names no file'],
    ['a folder', { filePath: folder }, 'must be a file'],
    ['an empty file', { filePath: join(folder, 'empty') }, 'is an empty file'],
    ['what is no base64', { base64: 'no base64!', mimeType: 'image/png' }, 'must be base64'],
    ['more than a vendor takes', { base64: 'AAAA'.repeat(12 * 1024 * 1024), mimeType: 'image/png' }, 'is the most'],
    ['a kind that the agent does not pass on', { filePath: join(folder, 'b.pdf') }, 'passes no PDF files on'],
    ['bytes of no kind', { filePath: join(folder, 'bytes') }, 'passes no files of this kind on'],
    ['an address of a kind it takes by file', { url: 'https://x.example/a.txt', mimeType: 'text/plain' }, 'not by an address'],
  ])('%s is refused', (_, attachment, message) => {
    writeFileSync(join(folder, 'empty'), '');
    writeFileSync(join(folder, 'bytes'), Buffer.from([0, 1, 2, 255]));
    expect(() => check([attachment])).toThrow(message);
  });

  it('a file without an ending is told by its bytes', () => {
    writeFileSync(join(folder, 'LICENSE'), 'words');
    writeFileSync(join(folder, 'picture'), Buffer.from('89504e470d0a1a0a', 'hex'));
    expect(() => check([{ filePath: join(folder, 'LICENSE') }, { filePath: join(folder, 'picture') }])).not.toThrow();
  });

  it('a PDF for an engine that takes none is refused', () => {
    const options = { agent: 'claude', prompt: 'p', attachments: [{ filePath: join(folder, 'b.pdf') }] };
    const to = (engine: string) => ({ kind: 'gateway', engine, credential: 'ours', forcedModel: null }) as const;
    expect(() => assertEngineTakes(claude, options, to('kimi'))).toThrow("Engine 'kimi' does not take PDF files");
    expect(() => assertEngineTakes(claude, options, to('gemini'))).not.toThrow();
  });
});
