import { describe, expect, it } from 'vitest';
import { completeConfig } from '../../../src/platform/agents/config.ts';
import { getCurrentTime } from '../../../src/platform/capabilities/current-time/get-current-time.ts';
import { builtIns } from '../../../src/platform/capabilities/index.ts';
import { operations } from '../../../src/platform/capabilities/test-math/operations.ts';
import { getForecast, getWeather } from '../../../src/platform/capabilities/test-weather/weather.ts';
import { McpConnections } from '../../../src/platform/mcp/connections.ts';
import { PythonSandbox } from '../../../src/platform/sandbox/python.ts';
import { Sandbox } from '../../../src/platform/sandbox/sandbox.ts';
import { Secrets } from '../../../src/platform/tools/secrets.ts';
import { Outbound } from '../../../src/upstream/outbound.ts';
import { callTool } from '../../support/tool-call.ts';

const outbound = new Outbound();
const surroundings = {
  outbound,
  sandbox: new Sandbox(),
  python: new PythonSandbox({ environment: {} }),
  search: undefined,
  secrets: new Secrets(),
  mcp: new McpConnections(outbound, '0.0.0'),
  runs: undefined,
};

describe('the built-in capabilities of seed 002', () => {
  it.each([
    ['noop', undefined, undefined, undefined, []],
    ['current_time', undefined, 'clock', 'Utilities', ['get_current_time']],
    [
      'research',
      'You have access to a research scratchpad. Use it to organize your thoughts and findings.',
      'search',
      'AI',
      ['read_scratchpad', 'write_scratchpad', 'web_search', 'web_fetch'],
    ],
    [
      'sandbox',
      'You can execute code in a sandboxed environment. Use the execute_code tool to run code safely.',
      'box',
      'Execution',
      ['execute_code'],
    ],
    [
      'file_system',
      'You have access to file system tools. You can read, write, and search files.',
      'folder',
      'File Operations',
      ['read_file', 'write_file', 'edit_file', 'grep', 'glob', 'list'],
    ],
    [
      'test_math',
      'You have access to math tools. Use them for calculations: add, subtract, multiply, divide.',
      'calculator',
      'Testing',
      ['add', 'subtract', 'multiply', 'divide'],
    ],
    [
      'test_weather',
      'You have access to weather tools. Use get_weather for current conditions and get_forecast for multi-day forecasts.',
      'cloud-sun',
      'Testing',
      ['get_weather', 'get_forecast'],
    ],
  ])('%s has its prompt, icon, category and tools', async (...[id, prompt, icon, category, tools]) => {
    const capability = builtIns.find((one) => one.id === id);
    expect(capability).toMatchObject({ status: 'available', version: '1.0.0' });
    expect([capability?.systemPrompt, capability?.icon, capability?.category]).toEqual([prompt, icon, category]);
    const made = capability === undefined ? [] : await capability.tools(await completeConfig(capability, {}), surroundings);
    expect(made.map(({ name }) => name)).toEqual(tools);
    for (const tool of made) {
      expect(tool.policy).toBe('auto');
      expect(tool.parameters).toMatchObject({ type: 'object', additionalProperties: false });
    }
  });
});

describe('get_current_time', () => {
  const at = getCurrentTime({ now: () => Date.UTC(2026, 6, 1, 22, 30, 5, 700) });

  it.each([
    [{}, { datetime: '2026-07-01T22:30:05Z', format: 'iso8601', timezone: 'UTC' }],
    [{ timezone: 'America/New_York' }, { datetime: '2026-07-01T18:30:05-04:00', format: 'iso8601', timezone: 'America/New_York' }],
    [{ timezone: 'Asia/Kolkata' }, { datetime: '2026-07-02T04:00:05+05:30', format: 'iso8601', timezone: 'Asia/Kolkata' }],
    [
      { timezone: 'Asia/Tokyo', format: 'unix' },
      { timestamp: 1782945005, format: 'unix', timezone: 'Asia/Tokyo' },
    ],
    [
      { timezone: 'Europe/Berlin', format: 'human' },
      { datetime: 'Thursday, July 2, 2026 at 12:30:05 AM GMT+2', format: 'human', timezone: 'Europe/Berlin' },
    ],
  ])('answers %j with the wall clock of the zone', async (input, output) => {
    expect(await callTool(at, input)).toEqual({ output });
  });

  it('follows summer time', async () => {
    const winter = getCurrentTime({ now: () => Date.UTC(2026, 0, 1, 12) });
    expect(await callTool(winter, { timezone: 'America/New_York' })).toMatchObject({ output: { datetime: '2026-01-01T07:00:00-05:00' } });
  });

  it.each([[{ timezone: 'Mars/Base' }], [{ format: 'roman' }], [{ zone: 'UTC' }]])('refuses %j with words', async (input) => {
    expect(await callTool(at, input)).toEqual({ error: expect.any(String) });
  });
});

describe('test_math', () => {
  it.each([
    ['add', 2, 3, 5],
    ['subtract', 2, 3, -1],
    ['multiply', 2, 3, 6],
    ['divide', 3, 2, 1.5],
  ])('%s of %d and %d is %d', async (name, a, b, result) => {
    const tool = operations.find((one) => one.name === name)!;
    expect(await callTool(tool, { a, b })).toEqual({ output: { result, operation: name, a, b } });
  });

  it('tells the model about a division by zero and about overflow', async () => {
    const [, , multiply, divide] = operations;
    expect(await callTool(divide!, { a: 1, b: 0 })).toEqual({ error: 'Division by zero' });
    expect(await callTool(multiply!, { a: 1e300, b: 1e300 })).toEqual({ error: 'The result is too large' });
    expect(await callTool(divide!, { a: 'one', b: 2 })).toEqual({ error: expect.stringContaining('a:') });
  });
});

describe('test_weather', () => {
  it('gives a city the same weather every time', async () => {
    const paris = { location: 'Paris', temperature: 26, units: 'celsius', conditions: 'partly cloudy', humidity: 41, wind_speed_kmh: 6 };
    expect(await callTool(getWeather, { location: 'Paris' })).toEqual({ output: paris });
    expect(await callTool(getWeather, { location: 'Paris', units: 'fahrenheit' })).toEqual({
      output: { ...paris, units: 'fahrenheit', temperature: 79 },
    });
  });

  it('forecasts three days, or as many as asked, up to seven', async () => {
    const three = await callTool(getForecast, { location: 'Oslo' });
    expect(three).toMatchObject({ output: { location: 'Oslo', units: 'celsius', forecast: [{ day: 1 }, { day: 2 }, { day: 3 }] } });
    expect(await callTool(getForecast, { location: 'Oslo', days: 8 })).toEqual({ error: expect.stringContaining('days') });
  });
});
