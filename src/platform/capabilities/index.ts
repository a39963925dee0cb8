import type { AgentCapability } from '../agents/capability.ts';
import { currentTime } from './current-time/capability.ts';
import { fileSystem } from './file-system/capability.ts';
import { noop } from './noop/capability.ts';
import { research } from './research/capability.ts';
import { sandbox } from './sandbox/capability.ts';
import { testMath } from './test-math/capability.ts';
import { testWeather } from './test-weather/capability.ts';

/** The built-in capabilities, in the order lists show them. Their tools are loaded when an agent first has them. */
export const builtIns: readonly AgentCapability[] = [noop, currentTime, research, sandbox, fileSystem, testMath, testWeather];
