import { describe, expect, it } from 'vitest';
import { executeCode } from '../../../src/platform/capabilities/sandbox/execute-code.ts';
import { Sandbox } from '../../../src/platform/sandbox/sandbox.ts';
import { needing } from '../../support/needs.ts';
import { python } from '../../support/patient-python.ts';
import { callTool } from '../../support/tool-call.ts';

const missing = await python.unavailable();

describe.skipIf(missing !== undefined)(needing('Python', missing), () => {
  it('prints, and has its source and its name', async () => {
    expect(await python.run('import sys\nprint("a" * 3, sys.argv, __name__)')).toEqual({
      status: 'completed',
      stdout: "aaa ['code.py'] __main__\n",
      truncated: false,
    });
  });

  it('says where it failed, after what it has printed', async () => {
    const { status, stdout, error } = await python.run('print("before")\ndef f():\n    raise ValueError("no")\nf()');
    expect([status, stdout]).toEqual(['threw', 'before\n']);
    expect(error).toMatch(/File "\/workspace\/code\.py", line 3, in f\n\s+raise ValueError\("no"\)\nValueError: no$/);
  });

  it('shows what it printed as errors', async () => {
    expect(await python.run('import sys\nprint("careful", file=sys.stderr)')).toMatchObject({ status: 'completed', stderr: 'careful' });
  });

  it('has its standard library, threads, time zones and an event loop', async () => {
    const code = `import asyncio, ctypes, datetime, decimal, hashlib, sqlite3, ssl, threading, zoneinfo
threads = [threading.Thread(target=lambda: None) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
asyncio.run(asyncio.sleep(0))
print(datetime.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")).utcoffset())`;
    expect(await python.run(code)).toMatchObject({ status: 'completed', stdout: '2:00:00\n' });
  });

  it('writes and reads files of its own, which the next run does not find', async () => {
    const code =
      'import os, tempfile\nopen("note.txt", "w").write("x" * 1000)\nwith tempfile.TemporaryFile() as file: file.write(b"y")\nprint(sorted(os.listdir(".")))';
    expect((await python.run(code)).stdout).toBe("['code.py', 'note.txt']\n");
    expect((await python.run('import os\nprint(os.listdir("."))')).stdout).toBe("['code.py']\n");
  });

  it('reads text of any script', async () => {
    expect((await python.run('print("žluťoučký 😀", len("😀"))')).stdout).toBe('žluťoučký 😀 1\n');
  });

  it('ends with the code that the program gives', async () => {
    expect(await python.run('import sys\nsys.exit(3)')).toMatchObject({ status: 'threw', error: 'the code ended with 3' });
  });

  it('keeps what was printed before the time was up', async () => {
    // Long enough to get to the print on this machine as it is now.
    const began = performance.now();
    await python.run('print("here")');
    const timeMs = 500 + Math.ceil(10 * (performance.now() - began));
    expect(await python.run('import time\nprint("here")\nwhile True: time.sleep(60)', { limits: { timeMs } })).toMatchObject({
      status: 'timed_out',
      stdout: 'here\n',
      error: `the code did not end within ${timeMs} ms`,
    });
  });

  it('ends when nobody waits any more, at whatever moment of its start, and leaves nothing running', async () => {
    // A run is over when everything that holds its output is gone; this code never ends by itself.
    const code = 'import time\nwhile True: time.sleep(60)';
    for (let round = 0; round < 30; round += 1) {
      const call = new AbortController();
      setTimeout(() => call.abort(), round % 30);
      expect(await python.run(code, { signal: call.signal })).toMatchObject({ error: 'the call was given up' });
    }
  });

  it('runs no more than two programs at a time', async () => {
    const stamp = 'import time\nstart = time.monotonic()\ntime.sleep(0.3)\nprint(start, time.monotonic())';
    const runs = await Promise.all([1, 2, 3].map(() => python.run(stamp)));
    const spans = runs.map(({ stdout }) => stdout.trim().split(' ').map(Number));
    const most = Math.max(...spans.map(([at = 0]) => spans.filter(([start = 0, end = 0]) => start <= at && at < end).length));
    expect(most).toBeLessThanOrEqual(2);
  });

  it('is a language of execute_code', async () => {
    const tool = await executeCode({ javascript: new Sandbox(), python, config: { timeout_ms: 60_000 } });
    expect(tool.description).toMatch(/Python has its standard library/);
    expect(await callTool(tool, { language: 'python', code: 'print(sum(range(10)))' })).toEqual({
      output: { status: 'completed', stdout: '45\n' },
    });
  });
});
