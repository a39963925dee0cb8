/** Something the model should know and may correct. */
export class ToolFailure extends Error {}
