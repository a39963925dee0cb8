/** Copilot takes the family's body as it is. */
export { Request } from '../families/chat/wire.ts';
