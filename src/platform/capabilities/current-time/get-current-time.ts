import { z } from 'zod';
import type { Clock } from '../../../base/clock.ts';
import type { JsonObject } from '../../../base/json.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { type Tool, ToolFailure } from '../../tools/tool.ts';

const Parameters = z.strictObject({
  timezone: z.string().max(100).default('UTC').describe('IANA time zone, such as "UTC" or "America/New_York". Default UTC.'),
  format: z
    .enum(['iso8601', 'unix', 'human'])
    .default('iso8601')
    .describe('iso8601: date and time with offset. unix: seconds since 1970. human: a sentence. Default iso8601.'),
});
type Parameters = z.output<typeof Parameters>;

export function getCurrentTime(clock: Clock): Tool {
  return defineTool({
    name: 'get_current_time',
    description: 'Returns the current date and time in a time zone.',
    parameters: Parameters,
    run: (input) => describe(clock.now(), input),
  });
}

function describe(now: number, { timezone, format }: Parameters): JsonObject {
  const parts = wallClock(now, timezone);
  switch (format) {
    case 'unix':
      return { timestamp: Math.floor(now / 1000), format, timezone };
    case 'human':
      return { datetime: sentence(now, timezone), format, timezone };
    case 'iso8601':
      return { datetime: `${parts.date}T${parts.time}${parts.offset}`, format, timezone };
  }
}

interface WallClock {
  readonly date: string;
  readonly time: string;
  readonly offset: string;
}

function wallClock(now: number, timeZone: string): WallClock {
  const format = formatter('en-US', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  });
  const part = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]));
  // Intl writes GMT, or GMT+00:00, for no offset and GMT+05:30 otherwise.
  const offset = (part.timeZoneName ?? '').replace('GMT', '');
  return {
    date: `${part.year}-${part.month}-${part.day}`,
    time: `${part.hour}:${part.minute}:${part.second}`,
    offset: offset === '' || offset === '+00:00' ? 'Z' : offset,
  };
}

function sentence(now: number, timeZone: string): string {
  return formatter('en-US', { timeZone, dateStyle: 'full', timeStyle: 'long' }).format(now).replaceAll('\u202f', ' ');
}

function formatter(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, options);
  } catch {
    // The one option that comes from outside is the zone.
    throw new ToolFailure(`"${options.timeZone}" is not a time zone; use an IANA name such as UTC or Europe/Berlin.`);
  }
}
