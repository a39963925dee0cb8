/** Takes every step in turn, also where one before it fails. What went wrong, in their order. */
export async function endAll(steps: Iterable<() => unknown>): Promise<unknown[]> {
  const faults: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      faults.push(error);
    }
  }
  return faults;
}

/** The same; throws the first thing that went wrong once all steps are taken. */
export async function endInTurn(...steps: readonly (() => unknown)[]): Promise<void> {
  const [first, ...more] = await endAll(steps);
  if (more.length > 0) throw new AggregateError([first, ...more], first instanceof Error ? first.message : String(first));
  if (first !== undefined) throw first;
}
