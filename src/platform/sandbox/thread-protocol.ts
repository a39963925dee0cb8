import type { Execution, Limits, Program } from './execution.ts';

/** What the thread gets as its data. */
export interface Task extends Program {
  readonly limits: Limits;
}

/** Sent when the code begins; from then on its time counts. */
export const STARTED = 'started';

/** What the thread sends at the end. The value is JSON text made inside the sandbox: no object crosses. */
export interface Report extends Omit<Execution, 'value'> {
  readonly valueText?: string;
}
