import { describe, expect, it } from 'vitest';
import { captureIo } from '../../test/support/capture-io.ts';
import { colourWanted } from './io.ts';
import { createOutput, createPaint, levelWord } from './output.ts';
import { table } from './table.ts';

describe('output', () => {
  it('writes the data as JSON when JSON is asked for', () => {
    const io = captureIo();
    createOutput({ io, json: true, colour: true }).print({ a: 1 }, () => 'for people');
    expect(io.out()).toBe('{\n  "a": 1\n}\n');
  });

  it('writes the rendering for people otherwise', () => {
    const io = captureIo();
    createOutput({ io, json: false, colour: false }).print({ a: 1 }, (data) => `a is ${data.a}`);
    expect(io.out()).toBe('a is 1\n');
  });

  it('paints each level in its own colour', () => {
    const paint = createPaint(true);
    expect(paint.level('native')).toBe('\u001b[32mnative\u001b[39m');
    expect(paint.level('emulated')).toBe('\u001b[33memulated\u001b[39m');
    expect(paint.level('restricted')).toBe('\u001b[35mrestricted\u001b[39m');
    expect(paint.level('unsupported')).toBe('\u001b[31munsupported\u001b[39m');
  });

  it('paints nothing when colours are off', () => {
    expect(createPaint(false).level('native')).toBe('native');
  });

  it('calls a level with a reason restricted', () => {
    expect(levelWord({ restricted: { reason: 'asks first' } })).toBe('restricted');
    expect(levelWord('emulated')).toBe('emulated');
  });
});

describe('colours', () => {
  const cases = [
    { when: 'on a terminal', tty: true, env: {}, flag: true, wanted: true },
    { when: 'in a pipe', tty: false, env: {}, flag: true, wanted: false },
    { when: 'on a dumb terminal', tty: true, env: { TERM: 'dumb' }, flag: true, wanted: false },
    { when: 'on a terminal with NO_COLOR', tty: true, env: { NO_COLOR: '1' }, flag: true, wanted: false },
    { when: 'on a terminal with an empty NO_COLOR', tty: true, env: { NO_COLOR: '' }, flag: true, wanted: true },
    { when: 'in a pipe with FORCE_COLOR', tty: false, env: { FORCE_COLOR: '1' }, flag: true, wanted: true },
    { when: 'on a terminal with FORCE_COLOR=0', tty: true, env: { FORCE_COLOR: '0' }, flag: true, wanted: false },
    { when: 'with both variables', tty: true, env: { NO_COLOR: '1', FORCE_COLOR: '1' }, flag: true, wanted: false },
    { when: 'with --no-color', tty: true, env: { FORCE_COLOR: '1' }, flag: false, wanted: false },
  ];
  it.each(cases)('are $wanted $when', ({ tty, env, flag, wanted }) => {
    expect(colourWanted(captureIo({ tty, env }), flag)).toBe(wanted);
  });
});

describe('table', () => {
  it('aligns columns and leaves no blanks at the end of a line', () => {
    expect(
      table([
        ['a', 'bbb', 'c'],
        ['aaaa', 'b', ''],
        ['', 'b', 'cc'],
      ]),
    ).toBe('a     bbb  c\naaaa  b\n      b    cc');
  });

  it('gives colour codes no width', () => {
    const { level } = createPaint(true);
    expect(
      table([
        [level('native'), 'x'],
        ['plainword', 'y'],
      ]),
    ).toBe('\u001b[32mnative\u001b[39m     x\nplainword  y');
  });

  it('is empty without rows', () => {
    expect(table([])).toBe('');
  });
});
