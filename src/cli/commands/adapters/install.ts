import { installCommand } from '../../coding-agents/install.ts';

export const command = installCommand('adapters install');
