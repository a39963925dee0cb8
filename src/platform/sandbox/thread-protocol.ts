import type { Execution, Limits, Program } from './execution.ts';

/** The data that the thread is started with. */
export interface Task extends Program {
  readonly limits: Limits;
}

/** Sent when the code begins; from then on its time counts. */
export const STARTED = 'started';

/** The message of the thread at its end. The value is JSON text made inside the sandbox: no object crosses. */
export interface Report extends Omit<Execution, 'value'> {
  readonly valueText?: string;
}
