import { defineAdapter } from '../define.ts';
import { dialogue } from './events.ts';
import { catalogue } from './models.ts';
import { profile } from './profile.ts';
import { sessions } from './sessions.ts';
import { spawn } from './spawn.ts';
import { traffic } from './traffic.ts';

export const openclaw = defineAdapter({ profile, catalogue, traffic, sessions, spawn, dialogue });
