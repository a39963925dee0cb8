import type { AgentCapability } from '../../agents/capability.ts';

export const testWeather: AgentCapability = {
  id: 'test_weather',
  name: 'Test Weather',
  description: 'Testing tool calling with mock weather data.',
  status: 'available',
  icon: 'cloud-sun',
  category: 'Testing',
  version: '1.0.0',
  systemPrompt: 'You have access to weather tools. Use get_weather for current conditions and get_forecast for multi-day forecasts.',
  tools: async () => {
    const { getForecast, getWeather } = await import('./weather.ts');
    return [getWeather, getForecast];
  },
};
