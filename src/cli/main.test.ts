import { describe, expect, it } from 'vitest';
import { captureIo } from '../../test/support/capture-io.ts';
import { packageVersion } from '../base/own-files.ts';
import { main } from './main.ts';

async function run(argv: string[], options: Parameters<typeof captureIo>[0] = {}) {
  const io = captureIo(options);
  const code = await main(argv, io);
  return { code, out: io.out(), err: io.err() };
}

describe('the command line', () => {
  it('shows help when nothing is asked', async () => {
    const { code, out, err } = await run([]);
    expect(code).toBe(0);
    expect(out).toContain('Usage: abp <command> [options]');
    expect(err).toBe('');
  });

  it('shows its version', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, out: `${packageVersion()}\n`, err: '' });
    expect(packageVersion()).toMatch(/^\d+\.\d+\.\d+/);
  });

  it.each([
    ['receipt', 'receipts'],
    ['sessions', 'conversations'],
  ])('takes the former name %s for %s, and shows the present one alone', async (former, now) => {
    expect(await run([former, '--help'])).toEqual(await run([now, '--help']));
    expect(await run(['--json', former, 'list', '--help'])).toEqual(await run(['--json', now, 'list', '--help']));
    expect((await run(['--help'])).out).not.toMatch(new RegExp(`^ +${former} `, 'm'));
  });

  it('answers an unknown command with the nearest name', async () => {
    expect(await run(['sevre'])).toEqual({
      code: 2,
      out: '',
      err: "abp: unknown command 'sevre', did you mean serve?\nhint: abp --help lists the commands, abp <command> --help its options.\n",
    });
  });

  it('answers an unknown command that is near to nothing', async () => {
    const { code, err } = await run(['xyzzy']);
    expect(code).toBe(2);
    expect(err.split('\n')[0]).toBe("abp: unknown command 'xyzzy'");
  });

  it('answers an unknown word after a family name', async () => {
    const { code, err } = await run(['config', 'chek']);
    expect(code).toBe(2);
    expect(err.split('\n')[0]).toBe("abp: unknown command 'chek', did you mean check?");
  });

  it('shows the help of a family without a second word, as a usage fault', async () => {
    const { code, out, err } = await run(['config']);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).toContain('Usage: abp config <command> [options]');
  });

  it('answers an unknown option with the nearest one', async () => {
    const { code, err } = await run(['serve', '--prot', '1']);
    expect(code).toBe(2);
    expect(err.split('\n')[0]).toBe("abp: unknown option '--prot', did you mean --port?");
  });

  it.each([
    [['receipts', 'show'], 'Write it as abp receipts show [options] <run-id>; abp receipts show --help lists the options.'],
    [['serve', '--prot', '1'], 'Write it as abp serve [options]; abp serve --help lists the options.'],
    [['--json', 'keys', 'create', 'a', 'b'], 'Write it as abp keys create [options] <name>; abp keys create --help lists the options.'],
    [['config', 'chek'], 'The commands of abp config are check, diff, reload.'],
    [['receipt', 'show', 'a', 'b'], 'Write it as abp receipts show [options] <run-id>; abp receipts show --help lists the options.'],
  ])('tells how the command is written that %j names', async (argv, hint) => {
    const { code, out, err } = await run(argv);
    expect([code, `${out}${err}`.includes(hint)]).toEqual([2, true]);
  });

  it('answers a missing value of an option', async () => {
    const { code, err } = await run(['serve', '--port']);
    expect(code).toBe(2);
    expect(err.split('\n')[0]).toBe("abp: option '--port <number>' argument missing");
  });

  it.each(['70000', '-1', 'http', '1e3', ''])('refuses %j as a port', async (text) => {
    expect(await run(['serve', `--port=${text}`])).toEqual({
      code: 2,
      out: '',
      err: `abp: --port: '${text}' is not a port\nhint: A port is a number from 0 to 65535; 0 lets the system choose.\n`,
    });
  });

  it('writes errors as JSON on the standard output when JSON is asked for', async () => {
    const { code, out, err } = await run(['sevre', '--json']);
    expect(code).toBe(2);
    expect(err).toBe('');
    expect(out).toBe(`{
  "error": {
    "code": "usage",
    "type": "UsageError",
    "message": "unknown command 'sevre', did you mean serve?",
    "details": {},
    "retryable": false,
    "hint": "abp --help lists the commands, abp <command> --help its options."
  }
}
`);
  });

  it('shows a stack only when it is asked for', async () => {
    expect((await run(['sevre'])).err).not.toContain('    at ');
    expect((await run(['sevre'], { env: { ABP_DEBUG: '1' } })).err).toContain('    at ');
  });

  it('shows the help of a command in both ways', async () => {
    const asked = await run(['help', 'serve']);
    expect(asked.code).toBe(0);
    expect(asked.out).toContain('Usage: abp serve [options]');
    expect(asked.out).toContain('--port <number>');
    expect(asked.out).toContain('  abp serve --port 9000');
    expect(await run(['serve', '--help'])).toEqual(asked);
  });
});
