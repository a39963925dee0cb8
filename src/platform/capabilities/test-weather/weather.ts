import { z } from 'zod';
import { defineTool } from '../../tools/define-tool.ts';

const CONDITIONS = ['sunny', 'partly cloudy', 'cloudy', 'rainy', 'windy'] as const;
const location = z.string().min(1).max(200).describe('Name of the city.');
const units = z.enum(['celsius', 'fahrenheit']).default('celsius').describe('Unit of temperatures. Default celsius.');
type Units = z.output<typeof units>;

export const getWeather = defineTool({
  name: 'get_weather',
  description: 'Get current weather for a city',
  parameters: z.strictObject({ location, units }),
  run: (input) => {
    const seed = seedOf(input.location);
    return {
      location: input.location,
      temperature: inUnits((seed % 35) + 5, input.units),
      units: input.units,
      conditions: conditionsOf(seed),
      humidity: (seed % 50) + 30,
      wind_speed_kmh: (seed % 30) + 5,
    };
  },
});

export const getForecast = defineTool({
  name: 'get_forecast',
  description: 'Get multi-day forecast',
  parameters: z.strictObject({ location, days: z.int().min(1).max(7).default(3).describe('How many days, 1 to 7. Default 3.'), units }),
  run: (input) => ({
    location: input.location,
    units: input.units,
    forecast: Array.from({ length: input.days }, (_, day) => {
      const seed = seedOf(input.location) + 7 * day;
      const high = (seed % 35) + 5;
      return {
        day: day + 1,
        high: inUnits(high, input.units),
        low: inUnits(high - 8 - (seed % 5), input.units),
        conditions: conditionsOf(seed),
      };
    }),
  }),
});

/** The same city always has the same weather. */
function seedOf(city: string): number {
  return Buffer.from(city, 'utf8').reduce((sum, byte) => sum + byte, 0);
}

function conditionsOf(seed: number): string {
  return CONDITIONS[seed % CONDITIONS.length] ?? CONDITIONS[0];
}

function inUnits(celsius: number, unit: Units): number {
  return unit === 'celsius' ? celsius : Math.round((celsius * 9) / 5 + 32);
}
