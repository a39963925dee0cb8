import { expect, it } from 'vitest';
import { isJsonObject, type Json } from '../base/json.ts';
import { jsonSchemaOf, SCHEMA_NAMES } from './schemas.ts';

it('publishes these documents', () => {
  expect(SCHEMA_NAMES).toEqual([
    'work-order',
    'receipt',
    'receipt-line',
    'recording',
    'event',
    'sidecar-envelope',
    'capability-manifest',
    'capability-requirements',
    'negotiation-result',
    'compatibility-report',
    'emulation-report',
    'error',
  ]);
});

it.each(SCHEMA_NAMES)('gives %s a title and the 2020-12 dialect', (name) => {
  const schema = jsonSchemaOf(name);
  expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
  expect(schema.title).toMatch(/^[A-Z][A-Za-z]+$/);
});

/** Paths of object members without a description. */
function undescribed(schema: Json | undefined, path: string): string[] {
  if (!isJsonObject(schema)) return [];
  const members = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  const branches = [schema.items, ...[schema.anyOf, schema.oneOf, schema.prefixItems].filter(Array.isArray).flat()];
  return [
    ...members.flatMap(([key, member]) => [
      ...(isJsonObject(member) && typeof member.description === 'string' ? [] : [`${path}.${key}`]),
      ...undescribed(member, `${path}.${key}`),
    ]),
    ...branches.flatMap((branch) => undescribed(branch, path)),
  ];
}

const described = [
  'work-order',
  'receipt',
  'receipt-line',
  'recording',
  'capability-requirements',
  'negotiation-result',
  'compatibility-report',
  'emulation-report',
  'error',
] as const;

it.each(described)('describes every field of a %s', (name) => {
  // A JSON Schema is JSON; its type is only wider.
  const schema = jsonSchemaOf(name) as Json;
  expect(undescribed(schema, name)).toEqual([]);
});
