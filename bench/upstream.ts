import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { trafficOf } from './traffic.ts';

/** An engine that always gives the same answer. Started by a bench with the id of the traffic. */
const { answer } = trafficOf(process.argv[2]);
const CHUNK_MS = 1;

const server = http.createServer((request, response) => {
  request.resume().once('end', () => {
    if (Buffer.isBuffer(answer)) {
      response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'req_01', 'content-length': answer.length }).end(answer);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'request-id': 'req_01' });
    drip(response, answer);
  });
});

/** One chunk at a time, with a pause, so that each arrives alone as those of a model do. */
function drip(response: http.ServerResponse, chunks: readonly Buffer[]): void {
  let next = 0;
  const timer = setInterval(() => {
    response.write(chunks[next] ?? '');
    next += 1;
    if (next < chunks.length) return;
    clearInterval(timer);
    response.end();
  }, CHUNK_MS);
  response.once('close', () => clearInterval(timer));
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port)); // a TCP server has one once it listens
process.once('disconnect', () => process.exit());
