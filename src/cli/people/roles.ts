import { Role } from '../../calls/scopes.ts';

/** The roles, as the help of a command names them. */
export const ROLE_HELP = `what may be done, by name: ${Role.options.join(', ')} (docs/permissions.md)`;
