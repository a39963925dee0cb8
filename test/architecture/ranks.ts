/** The rooms of `src/`. A file imports its own room and rooms of a lower rank; never one above it, never one beside it. */
export const RANKS: Readonly<Record<string, number>> = {
  base: 0,
  contract: 1,
  client: 2,
  home: 2,
  ir: 2,
  models: 2,
  sidecar: 2,
  store: 2,
  negotiation: 3,
  receipts: 3,
  dialects: 4,
  upstream: 4,
  engines: 5,
  adapters: 5,
  confinement: 5,
  mapping: 6,
  calls: 7,
  loop: 7,
  runtime: 8,
  platform: 9,
  gateway: 10,
  conformance: 10,
  cli: 11,
  node: 11,
};

export const roomOf = (path: string): string => path.split('/')[1] ?? '';
