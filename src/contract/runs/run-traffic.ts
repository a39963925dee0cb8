import { z } from 'zod';

/** The loss of a field that a run may suffer; a field that would be refused stands in no table. */
const TableFate = z.enum(['exact', 'renamed', 'emulated', 'dropped']);

/** Something that the requests of a coding agent hold and not every engine has, and what a best-effort run makes of it. */
export const TrafficRow = z.strictObject({
  feature: z.string().max(200).describe('What it is, in words.'),
  path: z.string().max(200).describe('Where it stands in the request: a fidelity path, for the field and everything below it.'),
  fate: TableFate.describe('The worst that happens to it on an engine of another dialect.'),
  on: z.record(z.string(), TableFate).optional().describe('The same by dialect of the engine, where one is kinder.'),
  reason: z.string().max(500).describe('Why that is enough.'),
});
export type TrafficRow = z.infer<typeof TrafficRow>;
