import { z } from 'zod';
import { Plane } from '../../contract/receipt.ts';

/** What a key may do. An absent list means no limit of that kind; `planes` defaults to the gateway alone. */
export const Scopes = z.strictObject({
  admin: z.boolean().optional().describe('Everything, settings and keys included.'),
  planes: z.array(Plane).optional().describe('Planes the key may use.'),
  raw: z.boolean().optional().describe('Vendor paths that are not part of a dialect.'),
  engines: z.array(z.string()).optional().describe('Engines, by id or pattern.'),
  models: z.array(z.string()).optional().describe('Models, by name or pattern.'),
  agents: z.array(z.string()).optional().describe('Coding agents, by id or pattern.'),
});
export type Scopes = z.infer<typeof Scopes>;
