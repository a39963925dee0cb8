import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { removeSession } from '../../src/platform/sessions/sessions.ts';
import { cancelTurn } from '../../src/platform/turns/turns.ts';
import { TestPlatform, testTool } from '../support/platform.ts';
import { readyDatabase } from '../support/postgres.ts';

/** The worker hears of turns from the database at once, and finds none by looking around. */
const NEVER = 3_600_000;

describe('two processes on one PostgreSQL database', () => {
  let worker: TestPlatform;
  let server: TestPlatform;
  const release = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();

  beforeEach(async () => {
    const url = await readyDatabase();
    const tools = [
      testTool('slow', { execute: async () => release.promise.then(() => ({ output: 'done' })) }),
      testTool('hang', {
        execute: (_input, { signal }) =>
          new Promise(() => {
            signal.addEventListener('abort', () => aborted.resolve());
          }),
      }),
    ];
    worker = await TestPlatform.open({ databaseUrl: url, tools, graceMs: 0, sweepMs: NEVER });
    server = await TestPlatform.open({ databaseUrl: url, slots: 0 });
  });
  afterEach(async () => {
    await server.close();
    await worker.close();
  });

  test('hand turns from the one that takes messages to the one that works', async () => {
    const session = await server.session();
    await server.send(session, 'say "hi"');
    await server.until(session);
    expect(await server.said(session)).toContainEqual(['agent', 'hi']);
  });

  test('show stored events and deltas of the other as they come', async () => {
    const session = await server.session();
    const stream = server.service.feed(session, 0);
    const all = text(stream);
    await server.send(session, 'say "one two three four five" and wait 300 ms');
    await server.until(session);
    await expect.poll(() => stream.readableFlowing).not.toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 300));
    server.service.endFeeds();
    const seen = [...(await all).matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
    expect(seen.filter((type) => type !== 'output.message.delta')).toEqual([
      ...['connected', 'input.message', 'session.activated', 'turn.started', 'reason.started', 'output.message.started'],
      ...['llm.generation', 'output.message.completed', 'reason.completed', 'turn.completed', 'session.idled', 'disconnecting'],
    ]);
  });

  test('bring a message to the turn that the other works on', async () => {
    const session = await server.session();
    await server.send(session, 'call the tool slow with {}');
    await expect.poll(() => server.types(session)).toContain('tool.started');
    await server.send(session, 'say "second"');
    release.resolve();
    await server.until(session);
    expect((await server.said(session)).at(-1)).toEqual(['agent', 'second']);
    expect((await server.types(session)).filter((type) => type === 'turn.started').length).toBe(1);
  });

  test('end a turn of the other, which hears of it at once', async () => {
    const session = await server.session();
    await server.send(session, 'call the tool hang with {}');
    await expect.poll(() => server.types(session)).toContain('tool.started');
    await cancelTurn(server.service.parts, server.service.worker, await server.current(session), 'enough');
    await aborted.promise;
    expect((await server.types(session)).slice(-2)).toEqual(['turn.cancelled', 'session.idled']);
  });

  test('end the streams of a session that the other deletes, and remove its files', async () => {
    const session = await server.session();
    await server.send(session, 'call the tool slow with {}');
    release.resolve();
    await server.until(session);
    const folder = join(worker.home, 'workspaces', session.id);
    expect(existsSync(folder)).toBe(true);
    const stream = text(worker.service.feed(session, 0));
    await expect.poll(() => worker.service.parts.hub.isHeard(session.id)).toBe(true);
    await removeSession(server.service.parts, server.service.worker, session.id, { all: true });
    expect(await stream).toMatch(/event: disconnecting\ndata: \{"reason":"deleted"/);
    await expect.poll(() => existsSync(folder)).toBe(false);
  });

  test('leave turns to the other when they stop', async () => {
    const session = await worker.session();
    await worker.send(session, 'wait 400 ms and say "later"');
    const other = await TestPlatform.open({ databaseUrl: String(worker.databaseUrl) });
    await worker.service.worker.stop();
    await other.until(session);
    expect((await other.said(session)).at(-1)).toEqual(['agent', 'later']);
    await other.close();
  });
});
