import { z } from 'zod';
import { keysOf } from '../../../base/json.ts';
import { dialects } from '../../../dialects/index.ts';
import { CONCEPTS, conceptRow } from '../../../ir/concept.ts';
import { defineRoute } from '../../route.ts';

const concepts = keysOf(CONCEPTS);

const FieldTable = z.strictObject({
  fields: z.array(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      weight: z.string().describe('What a loss of it means.'),
      names: z.record(z.string(), z.string()).describe('What each dialect calls it; a dialect that has no name for it is left out.'),
    }),
  ),
});

export const matrixFieldRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/matrix/fields',
    summary: 'What each dialect calls each field, and how much a loss of it weighs.',
    need: { kind: 'read' },
    response: FieldTable,
    handle: () => ({
      fields: concepts.map((concept) => {
        const { title, weight } = conceptRow(concept);
        const names = dialects.flatMap((dialect) => {
          const name = dialect.names[concept];
          return name === undefined ? [] : [[dialect.id, name] as const];
        });
        return { id: concept, title, weight, names: Object.fromEntries(names) };
      }),
    }),
  }),
];
