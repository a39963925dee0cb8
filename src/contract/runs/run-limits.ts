import { z } from 'zod';

const amount = z.int().positive().max(1_000_000_000);

/** Hard limits of everything that a run starts. One that nothing here holds refuses the run. */
export const RunLimits = z.strictObject({
  processes: amount.optional().describe('Processes and threads at the same time.'),
  memoryMb: amount.optional().describe('Memory of all its processes together, in MiB.'),
  processMemoryMb: amount.optional().describe('Memory of each of its processes, in MiB.'),
  diskMb: amount.optional().describe('Disk that its staged copy may take, with what was copied into it, in MiB.'),
});
export type RunLimits = z.infer<typeof RunLimits>;

/** The same limits as work orders and the configuration spell them. */
export const OrderLimits = z.strictObject({
  processes: RunLimits.shape.processes,
  memory_mb: RunLimits.shape.memoryMb,
  process_memory_mb: RunLimits.shape.processMemoryMb,
  disk_mb: RunLimits.shape.diskMb,
});
export type OrderLimits = z.infer<typeof OrderLimits>;

/** Limits of a work order or the configuration as those of a run; what is not said is left out. */
export function runLimits({ processes, memory_mb, process_memory_mb, disk_mb }: OrderLimits): RunLimits {
  return {
    ...(processes !== undefined && { processes }),
    ...(memory_mb !== undefined && { memoryMb: memory_mb }),
    ...(process_memory_mb !== undefined && { processMemoryMb: process_memory_mb }),
    ...(disk_mb !== undefined && { diskMb: disk_mb }),
  };
}
