import { z } from 'zod';
import { Capability } from '../../contract/capability.ts';
import { CapabilityManifest, Mode, SupportLevel } from '../../contract/support.ts';

export const Backend = z.strictObject({
  id: z.string().describe('Such as engine:claude or host:codex.'),
  name: z.string(),
  kind: z.enum(['engine', 'host', 'adapter']),
  capabilities: CapabilityManifest,
});

export const BackendList = z.strictObject({ items: z.array(Backend), total: z.int() });

export const BackendParams = z.strictObject({ id: z.string() });

export const Matrix = z.strictObject({
  cells: z.array(z.strictObject({ dialect: z.string(), engine: z.string(), mode: Mode, guarantee: z.string() })),
  capabilities: z.array(
    z.strictObject({ capability: Capability, backend: z.string(), level: SupportLevel, source: z.enum(['manifest', 'hello', 'profile']) }),
  ),
});
export type Matrix = z.infer<typeof Matrix>;
