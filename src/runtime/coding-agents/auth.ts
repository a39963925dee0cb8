import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AgentName, AuthMethod } from '../../contract/runs/coding-agent.ts';
import type { AuthStatus } from '../../contract/runs/run-error.ts';
import type { AgentData, Environment } from './agent-data.ts';

/** An agent's login, told without opening anything: names of variables that are set, and of files that are there. */
export interface AuthState {
  readonly agent: AgentName;
  /** `unknown`: a login is there, and only its provider can say whether it still holds. */
  readonly status: AuthStatus;
  readonly methods: readonly AuthMethod[];
  readonly variables: readonly { readonly name: string; readonly set: boolean }[];
  readonly files: readonly { readonly path: string; readonly present: boolean }[];
  readonly loginCommand?: string;
  readonly guidance: readonly string[];
}

export function authState({ agent, capabilities, auth }: AgentData, env: Environment): AuthState {
  const home = env.HOME ?? env.USERPROFILE ?? homedir();
  const variables = auth.envVars.map((name) => ({ name, set: (env[name] ?? '') !== '' }));
  const files = (auth.files ?? []).map((path) => ({ path: `~/${path}`, present: existsSync(join(home, path)) }));
  const stored = files.some(({ present }) => present);
  return {
    agent,
    status: variables.some(({ set }) => set) ? 'authenticated' : stored ? 'unknown' : 'unauthenticated',
    methods: capabilities.authMethods,
    variables,
    files,
    ...(auth.loginCommand !== undefined && { loginCommand: auth.loginCommand }),
    guidance: auth.guidance,
  };
}
