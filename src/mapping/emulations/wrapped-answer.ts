import { type JsonObject, parseJson } from '../../base/json.ts';
import { parseShallowObject } from '../../base/json-limits.ts';
import type { FateNote } from '../../dialects/dialect.ts';
import type { IrAnswerEvent } from '../../ir/event.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { AnswerFilter } from '../answer-filter.ts';
import { WholeTexts } from '../whole-texts.ts';

const MEMBER = 'value';

/** The receipt's note about a schema that we had to put into an object. */
export const WRAPPED: FateNote & { readonly concept: 'json_schema' } = {
  concept: 'json_schema',
  fate: 'emulated',
  code: 'schema_wrapped',
  note: `the schema is no object; the answer is asked for as the member "${MEMBER}" of one and taken out again`,
};

/** The request with its output format inside an object, for a wire that takes nothing else; undefined where there is nothing to do. */
export function wrapOutput(request: IrRequest): IrRequest | undefined {
  const { output } = request;
  if (output?.kind !== 'json-schema' || output.schema.type === undefined || output.schema.type === 'object') return undefined;
  // References point to the root, so what they point to stays there.
  const { $defs, definitions, ...inner } = output.schema;
  const schema: JsonObject = {
    type: 'object',
    properties: { [MEMBER]: inner },
    required: [MEMBER],
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
  return { ...request, output: { ...output, schema } };
}

/** Takes the answer out of its object. */
export class UnwrapFilter implements AnswerFilter {
  readonly #texts = new WholeTexts();

  filter(event: IrAnswerEvent): IrAnswerEvent[] {
    if (event.type === 'part-start' && event.part.kind === 'text') this.#texts.hold(event.index);
    return this.#texts.filter(event, (text) => {
      const value = parseShallowObject(text)?.[MEMBER];
      return value === undefined ? text : JSON.stringify(value);
    });
  }
}

/** Takes the quotes of JSON off the text that the caller chose from. */
export class BareFilter implements AnswerFilter {
  readonly #texts = new WholeTexts();

  filter(event: IrAnswerEvent): IrAnswerEvent[] {
    if (event.type === 'part-start' && event.part.kind === 'text') this.#texts.hold(event.index);
    return this.#texts.filter(event, (text) => {
      const parsed = parseJson(text);
      return parsed.ok && typeof parsed.value === 'string' ? parsed.value : text;
    });
  }
}
