/** The fates of fields, always in this order: from nothing lost to refused. */
export const FATES = ['exact', 'renamed', 'emulated', 'dropped', 'refused'] as const;
export type FateName = (typeof FATES)[number];
