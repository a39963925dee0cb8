import { jsonSchemaOf, SCHEMA_NAMES } from '../../src/contract/schemas.ts';
import type { GeneratedFile } from './generated-file.ts';

/** One JSON Schema file for each public document. */
export const schemaFiles: readonly GeneratedFile[] = SCHEMA_NAMES.map((name) => ({
  path: `src/contract/schemas/${name}.json`,
  render: () => `${JSON.stringify(jsonSchemaOf(name), null, 2)}\n`,
}));
