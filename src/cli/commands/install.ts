import { installCommand } from '../coding-agents/install.ts';

export const command = installCommand('install');
