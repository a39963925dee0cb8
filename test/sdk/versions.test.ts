import Anthropic from '@anthropic-ai/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { startUpstream, whole } from '../support/recording-upstream.ts';

const ANSWER =
  '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}';

it.each(['2023-06-01', '2026-10-21'])(
  'the API version %s goes from the SDK to Claude untouched, with every other header of the SDK',
  async (version) => {
    const upstream = await startUpstream();
    upstream.answer((socket) => {
      socket.write(whole(ANSWER));
    });
    const server = await startGateway({ engines: { claude: { url: upstream.url, key: 'engine-key' } } });
    onTestFinished(async () => {
      await server.close();
      await upstream.close();
    });
    let sent: Headers | undefined;
    const seen: typeof fetch = (input, init) => {
      sent = new Headers(init?.headers);
      return fetch(input, init);
    };
    const client = new Anthropic({
      baseURL: `${server.url}/e/claude`,
      apiKey: 'caller-key',
      maxRetries: 0,
      fetch: seen,
      defaultHeaders: { 'anthropic-version': version, 'anthropic-beta': 'a-2026-01-01,b-2026-02-02' },
    });
    await client.messages.create({ model: 'any-model', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] });
    const [request] = upstream.requests;
    const received = new Map(request?.headers.map(([name, value]) => [name.toLowerCase(), value]));
    expect(received.get('anthropic-version')).toBe(version);
    const own = [...(sent ?? [])].filter(([name]) => name.startsWith('anthropic') || name.startsWith('x-stainless'));
    expect(own.length).toBeGreaterThan(3);
    for (const [name, value] of own) expect([name, received.get(name)]).toEqual([name, value]);
    expect(received.get('x-api-key')).toBe('engine-key');
  },
);
