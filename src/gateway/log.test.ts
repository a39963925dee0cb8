import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AbpError } from '../contract/errors.ts';
import { linesTo, openLog } from './log.ts';

function logged(work: (log: ReturnType<typeof openLog>) => void, patterns: readonly string[] = []): string {
  const lines: string[] = [];
  work(openLog(patterns, { write: (line) => lines.push(line) }));
  return lines.join('');
}

const KEY = `sk-ant-api03-${'x'.repeat(80)}`;

it('a secret reaches no line of the log: not in a message, an error, its stack or a value', () => {
  const out = logged((log) => {
    log.error({ error: new AbpError('internal', `the engine refused ${KEY}`), url: '/v1beta/models/m:generateContent?key=short' }, KEY);
    log.warn({ headers: { authorization: `Bearer 0${'a'.repeat(30)}` } });
  });
  expect(out).not.toContain('sk-ant');
  expect(out).not.toContain('short');
  expect(out).not.toContain('aaaa');
  const [line] = out.split('\n');
  expect(JSON.parse(line ?? '')).toMatchObject({ msg: '[redacted]', error: { message: 'the engine refused [redacted]' } });
});

it('own patterns count too, and everything else stays', () => {
  expect(JSON.parse(logged((log) => log.info({ customer: 'C-4711', other: 'C-x' }), ['C-\\d+']))).toMatchObject({
    customer: '[redacted]',
    other: 'C-x',
  });
});

it('a private key that is cut off is removed, and the line stays a line of JSON', () => {
  const out = logged((log) => log.warn({ said: '-----BEGIN PRIVATE KEY-----\nMIIE', after: 'kept' }, 'seen'));
  expect(out.endsWith('\n')).toBe(true);
  expect(JSON.parse(out)).toMatchObject({ said: '[redacted]', after: 'kept', msg: 'seen' });
});

it('is written at once, and a disk that takes no line stops nobody', () => {
  const folder = mkdtempSync(join(tmpdir(), 'abp-log-'));
  const fd = openSync(join(folder, 'log'), 'w');
  openLog([], linesTo(fd)).info('seen');
  expect(JSON.parse(readFileSync(join(folder, 'log'), 'utf8'))).toMatchObject({ msg: 'seen' });
  closeSync(fd);
  rmSync(folder, { recursive: true });
  // A descriptor that is closed refuses every write, as a full disk does.
  expect(() => openLog([], linesTo(fd)).error('nobody sees this')).not.toThrow();
});
