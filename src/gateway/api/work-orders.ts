import { z } from 'zod';

export const WorkOrderQuery = z.strictObject({
  backend: z
    .string()
    .optional()
    .describe('Who executes it: engine:<id>, adapter:<agent>, host:<id> or sidecar:<name>. Without it the best one is chosen.'),
  engine: z.string().optional().describe('The engine that serves the model calls of an adapter, a host or a sidecar.'),
  parent: z.string().optional().describe('A run of the same caller that is under way, which this one is part of; it ends with it.'),
});

export const AcceptedOrder = z.strictObject({
  run_id: z.string().describe('The run that executes the order; its events are at /v1/runs/{run_id}/events.'),
  work_order_id: z.string(),
  backend: z.string().describe('Who executes it.'),
  status: z.literal('running'),
});
