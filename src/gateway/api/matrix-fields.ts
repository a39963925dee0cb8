import { z } from 'zod';

export const FieldTable = z.strictObject({
  fields: z.array(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      weight: z.string().describe('What a loss of it means.'),
      capability: z.string().nullable().describe('The capability under which it is negotiated and approximated, where there is one.'),
      names: z.record(z.string(), z.string()).describe('What each dialect calls it; a dialect that has no name for it is left out.'),
    }),
  ),
});
