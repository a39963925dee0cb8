/** The longest that a seal may take after the end of a run. */
const SEALED_WITHIN_MS = 60_000;

/** A run that ended and was never sealed: nobody can vouch for its receipt, which anybody with the database may have put in. */
export function isUnsealed(
  { seal, completed_at }: { readonly seal?: unknown; readonly completed_at?: string | null },
  now: number,
): boolean {
  if ((seal ?? null) !== null) return false;
  return typeof completed_at === 'string' && now - Date.parse(completed_at) > SEALED_WITHIN_MS;
}
