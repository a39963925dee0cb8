import { z } from 'zod';
import { Capability } from '../../contract/capability.ts';
import { CapabilityManifest, Mode, SupportLevel } from '../../contract/support.ts';

export const Backend = z.strictObject({
  id: z.string().describe('Such as engine:claude, host:codex or sidecar:mine.'),
  name: z.string(),
  kind: z.enum(['engine', 'host', 'adapter', 'sidecar']),
  manifest: CapabilityManifest.describe(
    'Capability and level, as POST /v1/negotiate takes it. Of a sidecar: what its hello says; empty where nobody has greeted it yet.',
  ),
  capabilities: CapabilityManifest.describe('The same under its former name.'),
  obstacle: z.string().optional().describe('Why a sidecar cannot be used now.'),
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
