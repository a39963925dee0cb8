import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context } from '../../command.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { type Io, openOutput } from '../../io.ts';
import { optional } from '../../parameter.ts';
import { filterOf, filters, natural, rangeOf } from '../../receipts/parameters.ts';
import { withReceipts } from '../../receipts/source.ts';

export const command = defineCommand({
  arguments: {},
  options: {
    ...filters,
    from: natural('--from <sequence>', 'first entry of the chain'),
    to: natural('--to <sequence>', 'last entry of the chain'),
    output: optional('--output <file>', 'write here instead of the standard output'),
  },
  examples: ['abp receipts export --output receipts.jsonl', 'abp receipts export --tag audit --since 2027-01-01 > audit.jsonl'],
  async run(context, { from, to, output: file, ...chosen }) {
    const range = rangeOf(from, to);
    const lines = await withReceipts(context, async (source) => {
      const counter = new LineCounter(source.export(filterOf(chosen), range));
      if (file === undefined) await show(context.io, counter);
      else await pipeline(Readable.from(counter.pieces()), createWriteStream(file, { fd: openOutput(file) }));
      return counter.lines;
    });
    if (file !== undefined) written(context, file, lines);
    return EXITS.ok.code;
  },
});

/** Pieces end anywhere, also inside a character. */
async function show({ stdout }: Io, counter: LineCounter): Promise<void> {
  const decoder = new TextDecoder();
  for await (const piece of counter.pieces()) stdout.write(decoder.decode(piece, { stream: true }));
}

const LF = 10;

class LineCounter {
  readonly #source: AsyncIterable<Uint8Array>;
  lines = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source;
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of this.#source) {
      for (const byte of piece) if (byte === LF) this.lines += 1;
      yield piece;
    }
  }
}

function written({ output }: Context, file: string, lines: number): void {
  output.print({ file, lines }, () => `${file}: ${lines} lines`);
}
