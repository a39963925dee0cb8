import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { trafficOf } from './traffic.ts';

/** An engine that always gives the same answer. Started by a bench with the id of the traffic, which a message changes. */
let traffic = trafficOf(process.argv[2]);
const CHUNK_MS = 1;

const server = http.createServer((request, response) => {
  request.resume().once('end', () => {
    const { answer, pauseMs = CHUNK_MS } = traffic;
    if (Buffer.isBuffer(answer)) {
      response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'req_01', 'content-length': answer.length }).end(answer);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'request-id': 'req_01' });
    drip(response, answer, pauseMs);
  });
});

/** One chunk at a time, with a pause, so that each arrives alone as those of a model do. The first comes at once. */
function drip(response: http.ServerResponse, chunks: readonly Buffer[], pauseMs: number): void {
  response.write(chunks[0] ?? '');
  let next = 1;
  const timer = setInterval(() => {
    response.write(chunks[next] ?? '');
    next += 1;
    if (next < chunks.length) return;
    clearInterval(timer);
    response.end();
  }, pauseMs);
  response.once('close', () => clearInterval(timer));
}

server.keepAliveTimeout = 60_000;
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => process.send?.((server.address() as AddressInfo).port)); // a TCP server has one once it listens
process.on('message', (id: string) => {
  traffic = trafficOf(id);
  process.send?.(id);
});
process.once('disconnect', () => process.exit());
