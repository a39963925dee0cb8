import { type AddressInfo, createServer, type Socket } from 'node:net';
import { MessageReader } from './message-reader.ts';
import { type Traffic, trafficOf } from './traffic.ts';

const CHUNK_MS = 1;
/** An engine that always gives the same answer. Started by a bench with the id of the traffic, which a message changes. */
let engine = engineOf(trafficOf(process.argv[2]));

/** An answer as it goes over the wire: in one piece, or a head and chunks with pauses between them. */
interface Engine {
  readonly pieces: readonly Buffer[];
  readonly pauseMs: number;
}

function engineOf({ answer, pauseMs = CHUNK_MS }: Traffic): Engine {
  if (Buffer.isBuffer(answer)) {
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nrequest-id: req_01\r\ncontent-length: ${answer.length}\r\n\r\n`;
    return { pieces: [Buffer.concat([Buffer.from(head), answer])], pauseMs };
  }
  const head =
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\nrequest-id: req_01\r\ntransfer-encoding: chunked\r\n\r\n';
  const chunks = answer.map((chunk) => Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]));
  const [first = Buffer.alloc(0), ...rest] = chunks;
  const last = rest.pop() ?? Buffer.alloc(0);
  return { pieces: [Buffer.concat([Buffer.from(head), first]), ...rest, Buffer.concat([last, Buffer.from('0\r\n\r\n')])], pauseMs };
}

/** One piece at a time, with a pause, so that each arrives alone as those of a model do. The first comes at once. */
function drip(socket: Socket, { pieces, pauseMs }: Engine): void {
  socket.write(pieces[0] ?? '');
  if (pieces.length === 1) return;
  let next = 1;
  const timer = setInterval(() => {
    socket.write(pieces[next] ?? '');
    next += 1;
    if (next < pieces.length) return;
    socket.off('close', stop);
    stop();
  }, pauseMs);
  const stop = (): void => clearInterval(timer);
  socket.once('close', stop);
}

const server = createServer({ noDelay: true }, (socket) => {
  let reader = new MessageReader();
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes: Buffer) => {
    if (!reader.push(bytes)) return;
    reader = new MessageReader();
    drip(socket, engine);
  });
});

server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => process.send?.((server.address() as AddressInfo).port)); // a TCP server has one once it listens
process.on('message', (id: string) => {
  engine = engineOf(trafficOf(id));
  process.send?.(id);
});
process.once('disconnect', () => process.exit());
