import { systemClock } from '../../../base/clock.ts';
import type { AgentCapability } from '../../agents/capability.ts';

export const currentTime: AgentCapability = {
  id: 'current_time',
  name: 'Current Time',
  description: 'Tool to get current date and time in various formats and timezones.',
  status: 'available',
  icon: 'clock',
  category: 'Utilities',
  version: '1.0.0',
  tools: async () => {
    const { getCurrentTime } = await import('./get-current-time.ts');
    return [getCurrentTime(systemClock)];
  },
};
