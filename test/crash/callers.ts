import { randomUUID } from 'node:crypto';
import http from 'node:http';

/** Callers that keep so many streams open, each with a request unlike any other, until they are told to stop. */
export interface Callers {
  /** Runs whose answers came whole. */
  readonly whole: () => readonly string[];
  stop(): void;
}

function call(url: string, done: (wholeRun: string | undefined) => void): http.ClientRequest {
  const body = JSON.stringify({
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    stream: true,
    messages: [{ role: 'user', content: randomUUID() }],
  });
  const headers = { 'content-type': 'application/json', 'content-length': body.length, 'x-api-key': 'sk-test' };
  const request = http.request(`${url}/e/claude/v1/messages`, { method: 'POST', headers, agent: false }, (response) => {
    response.resume();
    const isWhole = (): boolean => response.complete && response.statusCode === 200;
    response.once('close', () => done(isWhole() ? String(response.headers['x-abp-run-id']) : undefined));
    response.on('error', () => undefined);
  });
  request.once('error', () => done(undefined));
  request.end(body);
  return request;
}

export function startCallers(url: string, streams: number): Callers {
  let stopped = false;
  const whole: string[] = [];
  const open = new Set<http.ClientRequest>();
  const next = (): void => {
    if (stopped) return;
    const request = call(url, (run) => {
      open.delete(request);
      if (run !== undefined) whole.push(run);
      // A gateway that is gone must not be called in a tight loop.
      setTimeout(next, run === undefined ? 50 : 0);
    });
    open.add(request);
  };
  for (let at = 0; at < streams; at += 1) next();
  return {
    whole: () => whole,
    stop: () => {
      stopped = true;
      for (const request of open) request.destroy();
    },
  };
}
