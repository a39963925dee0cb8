import { type DestinationStream, type Logger, pino } from 'pino';
import { redactor } from '../base/redact.ts';

/** The log of the process, on the standard error. Secrets are removed from each line as it is written, wherever they came from. */
export function openLog(patterns: readonly string[], destination: DestinationStream = pino.destination(2)): Logger {
  const { text } = redactor(patterns);
  return pino(
    { level: process.env.ABP_LOG ?? 'info', serializers: { error: pino.stdSerializers.err } },
    // What stands in for a secret holds no quote and no backslash, so a line stays JSON.
    { write: (line: string) => destination.write(text(line)) },
  );
}
