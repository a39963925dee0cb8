import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { htmlToText } from '../../../src/platform/capabilities/research/html-to-text.ts';
import { readScratchpad, writeScratchpad } from '../../../src/platform/capabilities/research/scratchpad.ts';
import { webFetch } from '../../../src/platform/capabilities/research/web-fetch.ts';
import { webSearch } from '../../../src/platform/capabilities/research/web-search.ts';
import { createSearch, type SearchProviderId } from '../../../src/platform/tools/search.ts';
import { Outbound } from '../../../src/upstream/outbound.ts';
import { processorMs } from '../../support/processor-time.ts';
import { callTool, temporaryWorkspace } from '../../support/tool-call.ts';

async function serve(handler: http.RequestListener): Promise<string> {
  const server = http.createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
}

describe('the scratchpad', () => {
  it('keeps sections of a session, in their order, and replaces one of the same title', async () => {
    const workspace = temporaryWorkspace();
    expect(await callTool(readScratchpad, {}, { workspace })).toEqual({ output: { sections: [] } });
    await callTool(writeScratchpad, { section: 'a', text: '1' }, { workspace });
    await callTool(writeScratchpad, { section: 'b', text: '2' }, { workspace });
    await callTool(writeScratchpad, { section: 'a', text: '3' }, { workspace });
    expect(await callTool(readScratchpad, {}, { workspace })).toEqual({
      output: {
        sections: [
          { title: 'a', text: '3' },
          { title: 'b', text: '2' },
        ],
      },
    });
    expect(await callTool(writeScratchpad, { section: 'a', text: '' }, { workspace })).toEqual({ output: { sections: ['b'] } });
    expect(await callTool(readScratchpad, { section: 'b' }, { workspace: temporaryWorkspace() })).toEqual({ output: { sections: [] } });
  });

  it('loses nothing when calls of one turn write together, and has an end', async () => {
    const workspace = temporaryWorkspace();
    await Promise.all(Array.from({ length: 20 }, (_, n) => callTool(writeScratchpad, { section: `s${n}`, text: 'x' }, { workspace })));
    expect(await callTool(readScratchpad, {}, { workspace })).toMatchObject({ output: { sections: { length: 20 } } });
    expect(await callTool(writeScratchpad, { section: 'big', text: 'x'.repeat(200_000) }, { workspace })).toEqual({
      error: expect.stringContaining('full'),
    });
  });
});

describe('web_search', () => {
  it('says what to configure when there is no provider', async () => {
    expect(await callTool(webSearch(undefined), { query: 'x' })).toEqual({ error: expect.stringContaining('tools.search') });
  });

  it.each<[SearchProviderId, object, string, string | undefined]>([
    [
      'brave',
      { web: { results: [{ title: 'T', url: 'https://a.test', description: 'a <strong>b</strong>' }, { title: 'no url' }] } },
      'GET /?q=cats+%26+dogs&count=2 ',
      undefined,
    ],
    [
      'tavily',
      { results: [{ title: 'T', url: 'https://a.test', content: 'a b' }] },
      'POST / {"query":"cats & dogs","max_results":2}',
      'Bearer key-1',
    ],
    [
      'searxng',
      { results: [{ title: 'T', url: 'https://a.test', content: 'a b' }] },
      'GET /search?q=cats+%26+dogs&format=json ',
      undefined,
    ],
  ])('asks %s in its own words', async (provider, answer, asked, authorization) => {
    const seen: (string | undefined)[] = [];
    const host = await serve(async (request, response) => {
      seen.push(`${request.method} ${request.url} ${await text(request)}`, request.headers.authorization);
      response.end(JSON.stringify(answer));
    });
    const tool = webSearch(createSearch({ provider, url: `http://${host}/`, key: 'key-1' }));
    expect(await callTool(tool, { query: 'cats & dogs', limit: 2 })).toEqual({
      output: { query: 'cats & dogs', results: [{ title: 'T', url: 'https://a.test', snippet: 'a b' }] },
    });
    expect(seen).toEqual([asked, authorization]);
  });

  it('tells the model when the service refuses', async () => {
    const host = await serve((_, response) => response.writeHead(500).end());
    const tool = webSearch(createSearch({ provider: 'searxng', url: `http://${host}` }));
    expect(await callTool(tool, { query: 'x' })).toEqual({ error: 'The search service searxng answered 500.' });
  });
});

describe('web_fetch', () => {
  it('returns HTML as text and reads on at an offset', async () => {
    const host = await serve((_, response) => {
      response.setHeader('content-type', 'text/html').end('<title>A</title><script>no()</script><p>Hello &amp; <b>you</b></p>');
    });
    const tool = webFetch(new Outbound({ allow: [host] }));
    const url = `http://${host}/`;
    expect(await callTool(tool, { url })).toEqual({
      output: { url, status_code: 200, content_type: 'text/html', content: 'A\n\nHello & you', truncated: false },
    });
    expect(await callTool(tool, { url, offset: 3 })).toMatchObject({ output: { content: 'Hello & you' } });
  });

  it('refuses private addresses, errors and what is not text', async () => {
    const host = await serve((request, response) => {
      if (request.url === '/404') response.writeHead(404).end();
      else response.setHeader('content-type', 'image/png').end('x');
    });
    const tool = webFetch(new Outbound({ allow: [host] }));
    expect(await callTool(tool, { url: 'http://169.254.169.254/' })).toEqual({ error: expect.stringContaining('public addresses') });
    expect(await callTool(tool, { url: `http://${host}/404` })).toEqual({ error: `http://${host}/404 answered 404.` });
    expect(await callTool(tool, { url: `http://${host}/` })).toEqual({ error: expect.stringContaining('not text') });
  });
});

describe('htmlToText', () => {
  it.each([
    ['<ul><li>a<li>b</ul>', '- a\n- b'],
    ['a<br>b<!-- c -->d', 'a\nbd'],
    ['1 < 2 &lt; 3 &#x1F600; &#233; &unknown;', '1 < 2 < 3 😀 é &unknown;'],
    ['<style>x</STYLE >y<script>unclosed', 'y'],
    ['<p>a</p>\n\n\n<p>b</p>', 'a\n\nb'],
    ['<', '<'],
  ])('reads %j', (html, expected) => {
    expect(htmlToText(html)).toBe(expected);
  });

  it('stays fast on hostile pages', () => {
    for (const piece of ['<', '<a', '<!--', '<script', '&#', '<script></']) {
      expect(
        processorMs(() => htmlToText(piece.repeat(100_000))),
        piece,
      ).toBeLessThan(5000);
    }
  });
});
