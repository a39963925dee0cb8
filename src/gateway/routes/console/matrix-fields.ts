import { keysOf } from '../../../base/json.ts';
import { dialects } from '../../../dialects/index.ts';
import { CONCEPTS, conceptRow } from '../../../ir/concept.ts';
import { FieldTable } from '../../api/matrix-fields.ts';
import { defineRoute } from '../../route.ts';

const concepts = keysOf(CONCEPTS);

export const matrixFieldRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/matrix/fields',
    summary: 'What each dialect calls each field, and how much a loss of it weighs.',
    response: FieldTable,
    handle: () => ({
      fields: concepts.map((concept) => {
        const { title, weight, as: capability = null } = conceptRow(concept);
        const names = dialects.flatMap((dialect) => {
          const name = dialect.names[concept];
          return name === undefined ? [] : [[dialect.id, name] as const];
        });
        return { id: concept, title, weight, capability, names: Object.fromEntries(names) };
      }),
    }),
  }),
];
