import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserMissing } from '../support/browser.ts';
import { type ConsoleWorld, startWorld } from '../support/console-world.ts';
import { needing } from '../support/needs.ts';
import { HOSTILE } from './hostile-strings.ts';

let world: ConsoleWorld;
const missing = await browserMissing();

/** A page of somebody else, on another port or another name of this machine. */
async function startForeign(): Promise<Server> {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>other</title>'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Everything that a page can try with a server it does not belong to; the outcomes in words. Runs in the browser. */
const ATTEMPTS = `async (target) => {
  const tried = {};
  const attempt = async (name, work) => {
    try { tried[name] = await work(); } catch (error) { tried[name] = 'failed'; }
  };
  const body = JSON.stringify({ name: 'stolen', scopes: { admin: true } });
  const post = { method: 'POST', credentials: 'include', body };
  await attempt('json', async () => (await fetch(target + '/v1/keys', { ...post, headers: { 'content-type': 'application/json' } })).status);
  await attempt('plain text', async () => (await fetch(target + '/v1/keys', { ...post, headers: { 'content-type': 'text/plain' } })).status);
  await attempt('unread', async () => (await fetch(target + '/v1/keys', { ...post, mode: 'no-cors', headers: { 'content-type': 'text/plain' } })).type);
  await attempt('read', async () => await (await fetch(target + '/v1/keys', { credentials: 'include' })).text());
  await attempt('events', () => new Promise((resolve) => {
    const source = new EventSource(target + '/v1/runs/stream', { withCredentials: true });
    source.onopen = () => resolve('open');
    source.onerror = () => resolve('failed');
  }));
  await attempt('script', () => new Promise((resolve) => {
    const script = document.createElement('script');
    script.src = target + '/v1/keys';
    script.onload = () => resolve('loaded');
    script.onerror = () => resolve('failed');
    document.head.append(script);
  }));
  await attempt('form', () => new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.name = 'sink';
    document.body.append(frame);
    const form = document.createElement('form');
    Object.assign(form, { action: target + '/v1/keys', method: 'POST', enctype: 'text/plain', target: 'sink' });
    const field = document.createElement('input');
    field.name = '{"name":"stolen","x":"';
    field.value = '"}';
    form.append(field);
    document.body.append(form);
    frame.onload = () => resolve('sent');
    form.submit();
  }));
  await attempt('frame', () => new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.onload = () => resolve(frame.contentDocument === null ? 'opaque' : 'readable');
    frame.src = target + '/settings/keys';
    document.body.append(frame);
  }));
  return tried;
}`;

const ALLOWED = {
  json: 'failed',
  'plain text': 'failed',
  unread: expect.stringMatching(/^(opaque|failed)$/),
  read: 'failed',
  events: 'failed',
  script: 'failed',
  form: 'sent',
  frame: expect.stringMatching(/^(opaque|failed)$/),
};

describe.skipIf(missing !== undefined)(needing('the trust of the console in a browser', missing), () => {
  beforeAll(async () => {
    world = await startWorld();
  }, 180_000);
  afterAll(() => world?.close());

  // Cookies know no ports: another port of the same name is the same site, which SameSite alone would let in.
  it.each(['127.0.0.1', 'localhost'])('a page of %s on another port can do nothing with the console’s cookie', async (name) => {
    const foreign = await startForeign();
    const { page, context } = await world.signedIn();
    await page.goto(`http://${name}:${(foreign.address() as AddressInfo).port}/`);
    const tried: unknown = await page.evaluate(`(${ATTEMPTS})(${JSON.stringify(world.server.url)})`);
    expect(tried).toEqual(ALLOWED);
    const { items } = await world.admin<{ items: { name: string }[] }>('GET', '/v1/keys');
    expect(items.map((key) => key.name)).not.toContain('stolen');
    await context.close();
    foreign.close();
  });

  it('the cookie is read by no script, and the code of a link stays in no address, history or log', async () => {
    const { code } = world.server.gateway.browsers.sessions.invite('all', 60_000);
    const { page, context } = await world.signedIn();
    await page.goto(`${world.server.url}/#code=${code}`);
    await page.getByText('signed in').waitFor({ state: 'attached' });
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(page.url()).not.toContain(code);
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
    expect(world.server.logs()).not.toContain(code);
    expect(world.server.logs()).not.toContain(cookie?.value);
    await context.close();
  });

  it('no hostile text of a model, a caller, a key or an agent becomes HTML, loads anything or speaks in the console', async () => {
    const send = (path: string, body: object, headers: Record<string, string> = {}): Promise<string> =>
      fetch(`${world.server.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }).then((answer) => answer.text());
    for (const [at, text] of HOSTILE.entries()) {
      const messages = [{ role: 'user', content: `Say exactly: ${JSON.stringify(text)}` }];
      const tools = [
        {
          name: `tool_${at}`,
          description: text,
          input_schema: { type: 'object', properties: { x: { type: 'string', description: text } } },
        },
      ];
      await send(at % 2 === 0 ? '/e/sim/v1/messages' : '/e/sim:gemini/v1/messages', {
        ...{ model: text, max_tokens: 100, messages, tools, system: text, metadata: { user_id: text }, stream: at % 3 === 0 },
      });
      if (at % 5 === 0) await world.admin('POST', '/v1/keys', { name: text, tags: [text.replaceAll(/[^ -~]/g, '')] });
    }
    const all = HOSTILE.join('\n').replaceAll('\u0000', '');
    const coding = await world.run(`Fix the flaky queue test ${all}`);
    const asked = async (): Promise<number> => (await world.admin<{ total: number }>('GET', '/v1/interactions')).total;
    await expect.poll(asked).toBe(1);
    await world.server.gateway.keeper.settled();
    const { items } = await world.admin<{ items: { run_id: string; plane: string }[] }>('GET', '/v1/runs?view=row&limit=60');
    const calls = items.filter(({ plane }) => plane === 'gateway').map(({ run_id }) => run_id);
    const { page, context, complaints, open } = await world.signedIn();
    // The editor of the Playground holds places with empty pictures of its own.
    const [first = '', second = ''] = calls;
    const paths = [
      ...['/', '/runs', '/inbox', '/coding', '/usage?by=model', '/settings/keys', `/runs/${coding}`, `/runs/${first}/vs/${second}`],
      ...calls
        .slice(0, 6)
        .flatMap((run, at) => [
          `/runs?sel=${run}`,
          `/runs/${run}?tab=${['fates', 'request', 'response', 'events', 'headers', 'tools'][at]}`,
        ]),
      `/playground?run=${first}`,
    ];
    for (const path of paths) {
      await open(path);
      expect(await page.evaluate('window.hit'), path).toBeUndefined();
      expect(
        await page
          .locator('main :is(img:not(.cm-widgetBuffer), script, iframe, object, form[action], base, meta, a[href^="javascript"])')
          .count(),
        path,
      ).toBe(0);
      expect(new URL(page.url()).origin, path).toBe(world.server.url);
    }
    expect(complaints).toEqual([]);
    await context.close();
  });
});
