import http from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { receiptOf } from '../support/receipt-of.ts';

/** An unmasked frame of text, as servers send it. */
function frame(message: object, opcode = 1): Buffer {
  const payload = Buffer.from(JSON.stringify(message));
  const length = Buffer.alloc(payload.length < 126 ? 1 : 3);
  if (payload.length < 126) length[0] = payload.length;
  else {
    length[0] = 126;
    length.writeUInt16BE(payload.length, 1);
  }
  return Buffer.concat([Buffer.from([0x80 | opcode]), length, payload]);
}

/** A masked frame, as clients send it. */
function masked(message: object): Buffer {
  const plain = frame(message);
  const at = plain[1] === 126 ? 4 : 2;
  const mask = Buffer.from([9, 8, 7, 6]);
  const payload = plain.subarray(at).map((byte, place) => byte ^ (mask[place % 4] ?? 0));
  const head = Buffer.from(plain.subarray(0, at));
  head[1] = (head[1] ?? 0) | 0x80;
  return Buffer.concat([head, mask, payload]);
}

/** A session with an engine that says these messages and hangs up; resolves to what its receipt tells. */
async function sessionWith(engine: string, path: string, says: readonly Buffer[], hears: readonly Buffer[] = []) {
  const server = http.createServer();
  const sockets: Duplex[] = [];
  server.on('upgrade', (_request, socket: Duplex) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: abc\r\n\r\n');
    const answer = (): void => {
      for (const message of says) socket.write(message);
      socket.end();
    };
    if (hears.length === 0) answer();
    else socket.once('data', answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a listening TCP server has one
  const gateway = await startGateway({ engines: { [engine]: { url, key: 'k' } } });
  onTestFinished(gateway.close);
  const { host, port, hostname } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  const lines = [
    `GET /e/${engine}${path} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
  ];
  socket.write(`${[...lines, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='].join('\r\n')}\r\n\r\n`);
  for (const message of hears) socket.write(message);
  let got = '';
  socket.on('data', (chunk: Buffer) => {
    got += chunk.toString('latin1');
  });
  await new Promise<void>((resolve) => {
    socket.once('end', () => resolve());
    socket.once('close', () => resolve());
  });
  socket.end();
  const { usage, cost, model } = await receiptOf(gateway.url, /run_[0-9a-f]{32}/.exec(got)?.[0]);
  return { usage, cost: cost?.nano_usd ?? null, model: model?.upstream };
}

const spoke = {
  type: 'response.done',
  response: {
    usage: {
      input_tokens: 200,
      output_tokens: 100,
      input_token_details: { cached_tokens: 0, text_tokens: 100, audio_tokens: 100 },
      output_token_details: { text_tokens: 20, audio_tokens: 80 },
    },
  },
};

test('every response of a realtime session counts, and so do the transcripts of what was said', async () => {
  const { usage, cost, model } = await sessionWith('openai', '/v1/realtime?model=gpt-realtime', [
    frame({ type: 'session.created', session: { model: 'gpt-realtime', audio: { input: { transcription: { model: 'whisper-1' } } } } }),
    frame({ type: 'response.output_audio.delta', delta: 'AAAA'.repeat(1000) }),
    frame(spoke),
    frame({ type: 'conversation.item.input_audio_transcription.completed', usage: { type: 'duration', seconds: 60 } }),
    frame(spoke),
  ]);
  expect(model).toBe('gpt-realtime');
  expect(usage).toMatchObject({ input_tokens: 400, output_tokens: 200, details: { audio_input_tokens: 200, audio_output_tokens: 160 } });
  // 2 × (100×4 + 100×32 + 20×16 + 80×64) and a minute at 0.006.
  expect(cost).toBe(2 * 9_040_000 + 6_000_000);
});

test('every turn of a live session counts, whose model the caller names', async () => {
  const turn = {
    usageMetadata: {
      promptTokenCount: 100,
      responseTokenCount: 50,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 100 }],
      responseTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }],
    },
  };
  const { usage, cost, model } = await sessionWith(
    'gemini',
    '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
    [frame({ setupComplete: {} }, 2), frame({ serverContent: {} }, 2), frame(turn, 2), frame(turn, 2)],
    [masked({ setup: { model: 'models/gemini-live-2.5-flash-preview' } })],
  );
  expect(model).toBe('gemini-live-2.5-flash-preview');
  expect(usage).toMatchObject({ input_tokens: 200, output_tokens: 100, details: { audio_output_tokens: 100 } });
  // 200×0.50 + 100×12.
  expect(cost).toBe(1_300_000);
});

test('a session in which nothing was asked has used nothing', async () => {
  const { usage } = await sessionWith('openai', '/v1/realtime?model=gpt-realtime', [
    frame({ type: 'session.created', session: { model: 'gpt-realtime' } }),
  ]);
  expect(usage).toBeNull();
});
