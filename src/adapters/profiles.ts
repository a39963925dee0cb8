import { profile as claude } from './claude/profile.ts';
import { profile as codex } from './codex/profile.ts';
import { profile as copilot } from './copilot/profile.ts';
import { profile as cursor } from './cursor/profile.ts';
import type { Profile } from './define.ts';
import { profile as gemini } from './gemini/profile.ts';
import { profile as hermes } from './hermes/profile.ts';
import { profile as omp } from './omp/profile.ts';
import { profile as openclaw } from './openclaw/profile.ts';
import { profile as opencode } from './opencode/profile.ts';
import { profile as pi } from './pi/profile.ts';

/** Abilities of every coding agent. How each is driven stays out of this file, so that a list of agents loads none of them. */
export const profiles: readonly Profile[] = [claude, codex, gemini, copilot, cursor, opencode, pi, omp, openclaw, hermes];
