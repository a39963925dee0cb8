/** The fates of fields, always in this order: from nothing lost to refused. */
export const FATES = ['exact', 'renamed', 'emulated', 'dropped', 'refused'] as const;
export type FateName = (typeof FATES)[number];

/** A path of a field without its indexes, as the table of fields names it. */
const nameIn = (path: string): string => path.replaceAll(/\[(\d+|\*)\]/g, '');

interface KnownField {
  readonly capability: string | null;
  readonly names: Readonly<Record<string, string | undefined>>;
}

/** The capability that a field of a dialect asks for, where it asks for one. */
export function capabilityOf(fields: readonly KnownField[], dialect: string, path: string): string | undefined {
  const name = nameIn(path);
  const fits = (own: string | undefined): boolean => own !== undefined && (name === own || name.startsWith(`${own}.`));
  return fields.find(({ names, capability }) => capability !== null && fits(nameIn(names[dialect] ?? '')))?.capability ?? undefined;
}
