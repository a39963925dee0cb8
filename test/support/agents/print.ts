/** What the fake agents print: one event draft per line, and last how it went. */
export function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

export function say(text: string): void {
  print({ type: 'text_delta', delta: text });
}

export function begin(): void {
  print({ type: 'session_start', sessionId: `fake-${process.pid}`, resumed: false });
  print({ type: 'turn_start', turnIndex: 0 });
}

export function succeed(): void {
  print({ type: 'turn_end', turnIndex: 0 });
  print({ type: 'outcome', ok: true });
}

export const forEver = (): NodeJS.Timeout => setInterval(() => undefined, 60_000);
