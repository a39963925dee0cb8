/** Field cases that cannot happen here, each with the reason. */
export const NOT_APPLICABLE: readonly { readonly case: string; readonly reason: string }[] = [
  { case: 'C19', reason: 'another engine is tried only before the first byte, so no answer is continued by a second one' },
];
