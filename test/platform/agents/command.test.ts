import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { captureIo } from '../../support/capture-io.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const folder = mkdtempSync(join(tmpdir(), 'abp-agents-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(['on the home directly', 'as client of the live server'])('abp agents, %s', (way) => {
  const home = join(folder, way.replaceAll(' ', '-'));
  let server: TestGateway | undefined;

  beforeAll(async () => {
    if (way.startsWith('as client')) server = await startGateway({ home });
  });
  afterAll(() => server?.close());

  async function abp(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
    const io = captureIo();
    const code = await main([...argv, '--home', home], io);
    return { code, out: io.out(), err: io.err() };
  }

  async function json(...argv: string[]): Promise<ReturnType<typeof JSON.parse>> {
    const { code, out, err } = await abp(...argv, '--json');
    expect([code, err]).toEqual([0, '']);
    return JSON.parse(out);
  }

  it('makes, lists, shows, changes and archives an agent', async () => {
    const made = await json('agents', 'create', 'helper', '--prompt', 'Be brief.', '--capability', 'current_time,test_math', '--tag', 'a');
    expect(made).toMatchObject({ name: 'helper', system_prompt: 'Be brief.', tags: ['a'], model: null });
    expect(made.capabilities.map((one: { capability_id: string }) => one.capability_id)).toEqual(['current_time', 'test_math']);

    expect((await json('agents', 'list')).items.map((agent: { name: string }) => agent.name)).toEqual(['helper']);
    expect((await abp('agents', 'list')).out).toContain('current_time, test_math');
    const shown = await abp('agents', 'show', 'helper');
    expect(shown.out).toContain('You have access to math tools.');
    expect(shown.out).toMatch(/get_current_time +current_time/);
    expect(shown.out).toContain('1 native, 0 emulatable, 0 unsupported — fully compatible');

    const edited = await json('agents', 'edit', 'helper', '--description', 'answers', '--max-iterations', '4', '--name', 'aide');
    expect(edited).toMatchObject({ name: 'aide', description: 'answers', max_iterations: 4 });
    expect((await abp('agents', 'edit', 'aide')).code).toBe(2);
    expect((await abp('agents', 'edit', 'aide', '--max-iterations', 'many')).err).toContain('not a number');

    const set = await json('agents', 'capabilities', 'aide', '--set', 'noop');
    expect(set).toEqual({ items: [{ capability_id: 'noop', position: 0 }], total: 1 });
    expect((await json('agents', 'capabilities', 'aide')).total).toBe(1);
    expect((await json('agents', 'capabilities', 'aide', '--none')).total).toBe(0);
    expect((await json('agents', 'capabilities')).total).toBe(7);
    expect((await abp('agents', 'capabilities', 'aide', '--none', '--conflicts', 'prefer:lost')).out).toBe(
      'No capabilities.\nwarning: conflicts prefers lost, which this agent does not have; the first capability wins.\n',
    );
    expect((await abp('agents', 'show', 'aide')).out).toContain('warning: conflicts prefers lost');
    expect((await abp('agents', 'capabilities', 'aide', '--conflicts', 'prefix')).err).toContain('goes with --set or --none');
    expect((await abp('agents', 'capabilities', '--set', 'noop')).err).toContain('no agent is named');
    const refused = await abp('agents', 'capabilities', 'aide', '--set', 'nothing_like_it');
    expect([refused.code, refused.err]).toEqual([
      2,
      'abp: There is no capability "nothing_like_it".\nhint: docs/agents-and-capabilities.md names those that come with abp; GET /v1/capabilities lists them with your own.\n',
    ]);

    expect((await abp('agents', 'archive', 'aide')).out).toMatch(/is archived\n$/);
    expect((await abp('agents', 'show', 'aide')).code).toBe(3);
    expect((await json('agents', 'list', '--archived')).items).toHaveLength(1);
    expect((await json('agents', 'archive', made.id, '--undo')).status).toBe('active');
    expect((await json('agents', 'archive', 'aide', '--delete')).status).toBe('deleted');
    expect((await json('agents', 'list')).items).toEqual([]);
  });

  it('writes an agent to a file and makes it again from there', async () => {
    const file = join(folder, `${way.length}.md`);
    await json('agents', 'create', 'writer', '--prompt', 'Write.', '--capability', 'file_system');
    expect((await abp('agents', 'export', 'writer')).out).toBe('---\nname: writer\ncapabilities:\n  - file_system\n---\n\nWrite.\n');
    await abp('agents', 'export', 'writer', '--file', file);
    expect(readFileSync(file, 'utf8')).toContain('name: writer');
    const imported = await json('agents', 'import', file);
    expect(imported).toMatchObject({ name: 'writer', system_prompt: 'Write.' });
    const twice = await abp('agents', 'show', 'writer');
    expect([twice.code, twice.err]).toEqual([2, expect.stringContaining("2 agents are named 'writer'")]);
    const edited = await json('agents', 'edit', imported.id, '--file', file, '--name', 'author');
    expect(edited).toMatchObject({ name: 'author', system_prompt: 'Write.' });
  });
});
