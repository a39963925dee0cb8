import type { IrError } from './response.ts';

/** An answer that came with a good status and says that it failed. */
export class EngineFailure extends Error {
  readonly error: IrError;

  constructor(error: IrError) {
    super(error.message);
    this.error = error;
  }
}
