import type { z } from 'zod';

type Schema = z.core.$ZodType;

/**
 * The names that an object may have at a path of a schema, for messages about a name it may not have. Where a union leaves several objects
 * open, the names of all of them; none where nothing is an object.
 */
export function fieldsAt(schema: Schema, path: readonly PropertyKey[]): readonly string[] {
  const [step, ...rest] = path;
  // Every schema that zod makes is one of its own kinds; the union of them is what its own walkers use.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'nonoptional':
    case 'default':
    case 'prefault':
    case 'catch':
    case 'readonly':
      return fieldsAt(def.innerType, path);
    case 'pipe':
      return fieldsAt(def.in, path);
    case 'lazy':
      return fieldsAt(def.getter(), path);
    case 'union':
      return [...new Set(def.options.flatMap((option) => fieldsAt(option, path)))];
    case 'object':
      return step === undefined ? Object.keys(def.shape) : under(def.shape[String(step)], rest);
    case 'array':
      return step === undefined ? [] : fieldsAt(def.element, rest);
    case 'record':
      return step === undefined ? [] : fieldsAt(def.valueType, rest);
    default:
      return [];
  }
}

function under(schema: Schema | undefined, path: readonly PropertyKey[]): readonly string[] {
  return schema === undefined ? [] : fieldsAt(schema, path);
}
