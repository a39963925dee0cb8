import { z } from 'zod';
import type { JsonObject } from '../../base/json.ts';
import type { CustomCapability } from '../../store/agent-plane/custom-capabilities.ts';
import { damaged } from '../../store/text.ts';
import { CapabilityDefinition } from './definition.ts';

/** A custom capability as it is stored: every version of it, oldest first. */
const Document = z.strictObject({ versions: z.array(CapabilityDefinition).min(1) });

export function versionsIn(stored: CustomCapability): readonly CapabilityDefinition[] {
  const parsed = Document.safeParse(stored.document);
  if (!parsed.success) throw damaged(`capability ${stored.id}`, parsed.error.issues[0]?.message ?? 'unknown');
  return parsed.data.versions;
}

export function documentWith(versions: readonly CapabilityDefinition[]): JsonObject {
  return { versions: versions as unknown as JsonObject[] }; // parsed from JSON by a schema without transforms
}
