import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../../base/json.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { ToolFailure } from '../../tools/tool.ts';

const MAX_SECTIONS = 200;
const MAX_CHARACTERS = 200_000;

const Scratchpad = z.strictObject({ sections: z.array(z.strictObject({ title: z.string(), text: z.string() })) });
type Scratchpad = z.infer<typeof Scratchpad>;

export const readScratchpad = defineTool({
  name: 'read_scratchpad',
  description: 'Read the research scratchpad of this session: all sections, or one.',
  parameters: z.strictObject({ section: z.string().max(200).optional().describe('Title of one section. Default: all.') }),
  run: async ({ section }, { workspace }) => {
    const { sections } = await load(workspace);
    return { sections: sections.filter(({ title }) => section === undefined || title === section) };
  },
});

export const writeScratchpad = defineTool({
  name: 'write_scratchpad',
  description: 'Write a section of the research scratchpad. A section of the same title is replaced; an empty text removes it.',
  parameters: z.strictObject({
    section: z.string().min(1).max(200).describe('Title of the section.'),
    text: z.string().max(MAX_CHARACTERS).describe('The whole text of the section.'),
  }),
  run: ({ section, text }, { workspace }) =>
    oneAtATime(workspace, async () => {
      const before = await load(workspace);
      const others = before.sections.filter(({ title }) => title !== section);
      const at = before.sections.findIndex(({ title }) => title === section);
      const sections = text === '' ? others : others.toSpliced(at === -1 ? others.length : at, 0, { title: section, text });
      assertRoom(sections);
      await save(workspace, { sections });
      return { sections: sections.map(({ title }) => title) };
    }),
});

function assertRoom(sections: Scratchpad['sections']): void {
  const characters = sections.reduce((sum, { title, text }) => sum + title.length + text.length, 0);
  if (sections.length > MAX_SECTIONS) throw new ToolFailure(`The scratchpad is full: it holds ${MAX_SECTIONS} sections.`);
  if (characters > MAX_CHARACTERS) throw new ToolFailure(`The scratchpad is full: it holds ${MAX_CHARACTERS} characters.`);
}

function fileOf(workspace: string): string {
  return join(workspace, '.scratchpad.json');
}

async function load(workspace: string): Promise<Scratchpad> {
  let text: string;
  try {
    text = await readFile(fileOf(workspace), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { sections: [] };
    throw error;
  }
  const parsed = parseJson(text);
  const pad = Scratchpad.safeParse(parsed.ok ? parsed.value : undefined);
  if (!pad.success) throw new ToolFailure('The scratchpad file is damaged; somebody else has written to it.');
  return pad.data;
}

/** Whole or not at all: the process may end at any moment. */
async function save(workspace: string, pad: Scratchpad): Promise<void> {
  const draft = join(workspace, `.scratchpad-${randomUUID()}`);
  await writeFile(draft, JSON.stringify(pad), { flag: 'wx', mode: 0o600 });
  await rename(draft, fileOf(workspace));
}

const writing = new Map<string, Promise<unknown>>();

/** Calls of one turn run together; writing takes turns, so that no section is lost. */
async function oneAtATime<T>(workspace: string, work: () => Promise<T>): Promise<T> {
  const before = writing.get(workspace) ?? Promise.resolve();
  const mine = before.then(work, work);
  writing.set(workspace, mine);
  try {
    return await mine;
  } finally {
    if (writing.get(workspace) === mine) writing.delete(workspace);
  }
}
