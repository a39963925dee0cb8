import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as after } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject, parseJson } from '../../base/json.ts';
import { LineSplitter } from '../../base/line-splitter.ts';
import { startGuard } from '../../base/process-guard.ts';
import { LONGEST_MESSAGE, messageFault } from './message-limits.ts';

/** Lines that are no message: servers print a banner or a warning, but not without end. */
const MOST_STRAY_LINES = 1000;
/** How long lines are read before others have their turn. */
const TURN_MS = 5;
const CLOSE_MS = 2000;

export interface StdioOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/**
 * An MCP server as a program of ours. The SDK's own transport reads whatever the program prints in one go; this one reads it in turns,
 * holds at most what the pipe gave at once, and ends a program that prints a message without an end, or lines that are none.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #options: StdioOptions;
  #child: ChildProcess | undefined;
  #lines: string[] = [];
  #stray = 0;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#options;
    const guard = startGuard();
    const child = spawn(command, [...args], {
      env: { ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#child = child;
    child.once('close', () => {
      guard.release();
      this.#child = undefined;
      this.onclose?.();
    });
    child.stdin.on('error', (error) => this.onerror?.(error));
    this.#listen(child.stdout);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => {
        guard.release();
        reject(error);
      });
    });
    if (child.pid !== undefined) guard.watch(child.pid);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (!input?.writable) throw new Error('the MCP server has ended');
    if (!input.write(`${JSON.stringify(message)}\n`)) await drained(input);
  }

  /** A server that is asked to end by the end of its input gets a moment for it. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    this.#lines = [];
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await Promise.race([ended, after(CLOSE_MS, undefined, { ref: false })]);
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
    }
  }

  #listen(output: Readable): void {
    const fault = (): void => this.#giveUp(`a message longer than ${LONGEST_MESSAGE} bytes, or one that is not UTF-8`);
    const splitter = new LineSplitter((line) => void this.#lines.push(line), { mostBytes: LONGEST_MESSAGE, fault });
    const read = (): void => {
      const until = performance.now() + TURN_MS;
      let at = 0;
      while (at < this.#lines.length && performance.now() < until) this.#take(this.#lines[at++] ?? '');
      this.#lines = this.#lines.slice(at);
      if (this.#lines.length === 0) output.resume();
      else setImmediate(read);
    };
    output.on('data', (chunk: Buffer) => {
      splitter.push(chunk);
      if (this.#lines.length === 0) return;
      // The program's further output waits in the pipe, and when that is full in the program.
      output.pause();
      read();
    });
    output.on('error', (error) => this.onerror?.(error));
  }

  #take(line: string): void {
    if (this.#child === undefined) return;
    const excess = messageFault(line);
    if (excess !== undefined) {
      this.#giveUp(excess);
      return;
    }
    const parsed = parseJson(line);
    if (parsed.ok && isJsonObject(parsed.value) && parsed.value.jsonrpc === '2.0') {
      this.onmessage?.(parsed.value as unknown as JSONRPCMessage); // what is wrong in a message, the protocol of the SDK finds out
      return;
    }
    this.#stray += 1;
    if (this.#stray > MOST_STRAY_LINES) this.#giveUp(`more than ${MOST_STRAY_LINES} lines that are no messages`);
  }

  #giveUp(what: string): void {
    if (this.#child === undefined) return;
    const child = this.#child;
    this.onerror?.(new Error(`the MCP server printed ${what}`));
    void this.close();
    child.stdout?.destroy();
  }
}

async function drained(input: Writable): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      input.off('drain', done).off('close', done);
      resolve();
    };
    input.once('drain', done).once('close', done);
  });
}
