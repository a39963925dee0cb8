import { resolve } from 'node:path';
import { z } from 'zod';
import { SystemVariables, systemWord } from '../../contract/work-orders/work-order.ts';
import { wholeCommand } from '../../runtime/sidecars/command.ts';

/** A program that speaks the sidecar protocol. */
export const SidecarConfig = z.strictObject({
  command: z.array(systemWord.min(1)).min(1).describe('The program and its arguments. Files in it are found from this folder on.'),
  env: SystemVariables.default({}).describe('Variables that it gets.'),
  shows: z
    .array(systemWord.min(1))
    .default([])
    .describe('Files and folders that it reads in a sandbox, beside the folders of its command and the packages of Node above them.'),
  engine: z
    .string()
    .optional()
    .describe('The engine that serves its model calls through the gateway; without it the sidecar brings its own.'),
  handshake_s: z.number().positive().default(10).describe('Seconds within which it must say hello.'),
  heartbeat_s: z
    .number()
    .min(0)
    .default(30)
    .describe('Seconds of silence after which it is pinged; three pings without an answer end it. 0 never asks.'),
});

type Sidecars = Readonly<Record<string, z.infer<typeof SidecarConfig>>>;

/** Files of a sidecar are named from the folder of the configuration on. */
export function wholeSidecars(sidecars: Sidecars, base: string): Record<string, z.infer<typeof SidecarConfig>> {
  return Object.fromEntries(
    Object.entries(sidecars).map(([name, sidecar]) => {
      const { command, shows } = sidecar;
      return [name, { ...sidecar, command: [...wholeCommand(command, base)], shows: shows.map((path) => resolve(base, path)) }];
    }),
  );
}
