/** A committed file whose content follows from the code. */
export interface GeneratedFile {
  /** Relative to the root of the repository. */
  readonly path: string;
  render(): string;
}
