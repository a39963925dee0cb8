import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';
import { redactor } from '../base/redact.ts';

const STANDARD_ERROR = 2;

/** The log of the process, on the standard error. Secrets are removed from each line as it is written, wherever they came from. */
export function openLog(
  patterns: readonly string[],
  destination: DestinationStream = linesTo(STANDARD_ERROR),
  values: readonly string[] = [],
): Logger {
  const { text } = redactor(patterns, values);
  return pino(
    { level: process.env.ABP_LOG ?? 'info', serializers: { error: pino.stdSerializers.err } },
    // The mark that stands in for a secret holds no quote and no backslash, so a line stays JSON.
    { write: (line: string) => destination.write(text(line)) },
  );
}

/** Writes lines as they come. Pino's own destination ends the process when the disk is full, and then waits for room for ever. */
export function linesTo(fd: number): DestinationStream {
  return {
    write: (line) => {
      try {
        writeSync(fd, line);
      } catch {
        // The line is lost: there is nowhere to say so, and calls must not wait for the log.
      }
    },
  };
}
