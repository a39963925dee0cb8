/** The fates of a field, best first. The keeper counts them by their place here. */
export const FATES = ['exact', 'renamed', 'emulated', 'dropped', 'refused'] as const;

interface FateCodeRow {
  readonly meaning: string;
  /** Nothing is lost by it: the field says what happens anyway, or nothing that an engine could act on. Strict allows it. */
  readonly harmless?: boolean;
}

/** Why a field has the fate it has, one code for each reason; the note beside it says the same in words, with the values at hand. */
const FATE_CODES = {
  unknown_field: { meaning: 'The field is not one that the dialect has.' },
  no_form: { meaning: 'The engine has no form for the field.' },
  other_name: { meaning: 'The field has another name on the engine.' },
  default_value: { meaning: 'The field states the default, which the engine does without a word.', harmless: true },
  bookkeeping: { meaning: 'The field names things of the caller’s vendor and says nothing about the answer.', harmless: true },
  gateway_setting: { meaning: 'The gateway itself does what the field asks for; the engine has no part in it.', harmless: true },
  says_nothing: { meaning: 'An empty text was left out.', harmless: true },
  says_what_happens_anyway: { meaning: 'The value is what the model does in any case, and it takes none.', harmless: true },
  no_tool_to_choose: { meaning: 'A setting for tools stands beside no tool.', harmless: true },
  always_held: { meaning: 'The engine always holds the model to a schema.', harmless: true },
  refused_capability: { meaning: 'The field asks for a capability that the engine lacks.' },
  model_lacks: { meaning: 'The model has no such setting.' },
  model_renamed: { meaning: 'The engine knows the model by another name.' },
  set_by_run: { meaning: 'The run decided the value.' },
  tool_denied: { meaning: 'A rule of the policy denies the tool, which was taken out of the offer.', harmless: true },
  habit: { meaning: 'The coding agent sets it by habit, and the model has no form for it.' },
  feature_switch: { meaning: 'A header that turns on features of the caller’s vendor.' },
  count_estimated: { meaning: 'The engine counts no tokens; the gateway estimated them.' },
  out_of_range: { meaning: 'The engine takes a smaller range.' },
  one_of_two: { meaning: 'The model takes one of two settings, not both.' },
  sampling_fixed: { meaning: 'The sampling of the model is fixed.' },
  seed_too_large: { meaning: 'The engine takes a smaller seed.' },
  too_many_stops: { meaning: 'The engine takes fewer stop sequences.' },
  cut_at_stop: { meaning: 'The gateway cuts the answer at the first stop sequence.' },
  cut_to_one_call: { meaning: 'The gateway cuts the answer to its first tool call.' },
  limit_added: { meaning: 'The engine demands a token limit and the caller set none; the limit of the model was sent.', harmless: true },
  limit_raised: { meaning: 'The engine takes no limit as low as the caller’s.' },
  limit_too_low_to_think: { meaning: 'The token limit leaves no room for thinking.' },
  nearest_level: { meaning: 'The model does not have the level; the next one was sent.' },
  effort_as_budget: { meaning: 'The model has no levels of effort; a thinking budget was sent.' },
  effort_as_switch: { meaning: 'The model has no levels of effort; thinking was switched.' },
  effort_lost_to_thinking: { meaning: 'The model has no levels of effort; its thinking is as the caller set it.' },
  thinking_lost_to_effort: { meaning: 'The level of effort beside it says how much the model reasons.' },
  thinking_as_effort: { meaning: 'The engine has no thinking budget; a level of effort was sent.' },
  thinking_as_level: { meaning: 'Thinking was sent as the engine measures it.' },
  thinking_as_adaptive: { meaning: 'The model adapts its thinking and takes no budget.' },
  thinking_as_budget: { meaning: 'The model thinks by another budget.' },
  thinking_as_switch: { meaning: 'The model has no thinking budget; thinking was switched.' },
  thinking_as_prompt: { meaning: 'A sentence in the system prompt asks for thinking.' },
  thinking_hidden: { meaning: 'The model reasons all the same; none of it is shown.' },
  thinking_off_this_turn: { meaning: 'Thinking is off for this turn.' },
  does_not_reason: { meaning: 'The model does not reason.' },
  always_reasons: { meaning: 'The model cannot be told not to reason.' },
  not_while_thinking: { meaning: 'The model does not take it while it thinks.' },
  reasoning_not_its_own: { meaning: 'The engine takes back only reasoning that it wrote itself.' },
  reasoning_stand_in: { meaning: 'A sentence stands in for reasoning that was not kept.' },
  signature_skipped: { meaning: 'The engine was told to skip the check of a signature it never gave.' },
  cache_mark_kept: { meaning: 'The cache mark went along.' },
  of_earlier_answer: { meaning: 'A member of an earlier answer for which the engine has no form; no wish of the caller.' },
  system_as_text: { meaning: 'An instruction inside the conversation was sent as labelled text.' },
  turn_added: { meaning: 'The engine wants the user to speak first, or somebody at all; a turn was added.' },
  blank_stand_in: { meaning: 'The engine takes no message without words; a stand-in was sent.' },
  no_prefill: { meaning: 'The model takes no conversation that ends with its own words.' },
  error_as_text: { meaning: 'The text of the result says that it is an error.' },
  result_added: { meaning: 'A call without a result got one that says so.' },
  result_as_text: { meaning: 'A result whose call is gone was sent as text.' },
  arguments_as_text: { meaning: 'Arguments of a call that are no JSON object were sent as a text inside of one.' },
  not_in_text: { meaning: 'A block was sent as labelled text, which does not tell this member of it.' },
  block_as_text: { meaning: 'A block that only the caller’s vendor has was sent as labelled text.' },
  media_after_result: { meaning: 'Media of a tool result follow it in the same turn.' },
  media_in_result: { meaning: 'The engine does not take this medium in a tool result.' },
  media_of_assistant: { meaning: 'A message of the assistant takes only text.' },
  media_type_not_taken: { meaning: 'The engine does not take this kind of medium.' },
  media_not_by_address: { meaning: 'The engine takes the medium as bytes, not by address.' },
  media_kind_read: { meaning: 'The kind of the medium was read from its type, which has no place beside an address.' },
  document_as_text: { meaning: 'The text of a document was sent as text.' },
  tool_renamed: { meaning: 'The engine does not take the name; answers get it back.' },
  tool_not_declared: { meaning: 'The choice leaves the tool out, so it was not declared.' },
  allowed_tools_declared: { meaning: 'Only the allowed tools were declared.' },
  choice_not_forcible: { meaning: 'The engine cannot be made to call this tool.' },
  custom_as_function: { meaning: 'A free-form tool was declared as a function with one string.' },
  strict_not_held: { meaning: 'The model is asked to keep to the schema of the tool, not held to it.' },
  strict_for_all_tools: { meaning: 'The engine holds the model to the schemas of all functions or of none.' },
  schema_wrapped: { meaning: 'The engine takes objects only; the value is asked for inside one and taken out again.' },
  schema_root_described: { meaning: 'What the engine does not take at the root of a schema stands in the description.' },
  schema_words_lost: { meaning: 'The engine’s schemas have no exact form for some keywords.' },
  schema_closed: { meaning: 'The engine takes closed objects only; members beyond those of the schema cannot come.' },
  schema_not_held: { meaning: 'The model is asked to keep to the schema, not held to it.' },
  properties_reordered: { meaning: 'The properties are listed in the order that was asked for.' },
  forced_tool: { meaning: 'The model must call a tool whose arguments are the answer.' },
  json_word_added: { meaning: 'The engine demands that a message asks for JSON; a sentence was added.' },
  json_excludes_tools: { meaning: 'The model gives JSON or uses tools, not both.' },
  tools_exclude_each_other: { meaning: 'The model takes functions or tools of its own, not both.' },
  no_such_tool: { meaning: 'The engine has no such tool.' },
  served_by_own_tool: { meaning: 'The engine serves it by a tool of its own.' },
  hosted_limit: { meaning: 'The engine’s tool has no form for a limit that the caller set.' },
  no_such_tier: { meaning: 'The engine has no such service tier.' },
  user_hashed: { meaning: 'The id of the end user was sent as its SHA-256.' },
  user_too_long: { meaning: 'The id of the end user is longer than the engine takes.' },
} as const satisfies Record<string, FateCodeRow>;

export type FateCode = keyof typeof FATE_CODES;

const rows: Readonly<Record<string, FateCodeRow | undefined>> = FATE_CODES;

/** Why a member of an engine's answer has the fate it has at the caller. */
const ANSWER_CODES = {
  unknown_member: { meaning: 'The member is not one that the engine’s dialect has.' },
  no_form_at_caller: { meaning: 'The caller’s dialect has no form for it.' },
  other_name_at_caller: { meaning: 'The caller reads it under another name.' },
  told_in_part: { meaning: 'The caller reads a part of it.' },
  value_of_gateway: { meaning: 'The caller reads the gateway’s own value.' },
  header_of_engine: { meaning: 'A header of the engine is not for callers of another dialect.' },
  nearest_form: { meaning: 'It became the nearest part that the caller’s dialect has.' },
  as_labelled_text: { meaning: 'It is told as labelled text.' },
  as_line_below: { meaning: 'It is told as a line below the text.' },
  pages_as_sources: { meaning: 'The pages of a search are told as sources of the text.' },
  told_by_result: { meaning: 'The engine called a tool of its own; what came of it is told.' },
  left_out_of_json: { meaning: 'The caller asked for JSON, which a label would break.' },
  words_around_json: { meaning: 'The caller asked for JSON; words around it were left out.' },
  further_calls_hidden: { meaning: 'The caller asked for one call at a time and gets the first.' },
  call_cut_off: { meaning: 'The token limit cut a call off, and the caller’s dialect has no form for half of one.' },
  call_malformed: { meaning: 'The arguments of a call are no JSON; the caller reads that the call is malformed.' },
  would_be_empty: { meaning: 'The answer would be empty, and is an error instead.' },
  text_as_object: { meaning: 'The caller’s dialect has no calls with a free text; the arguments are an object that holds it.' },
  told_as_error: { meaning: 'The caller reads it in the error that it gets in place of an end.' },
  answer_failed: { meaning: 'The caller got an error in place of the answer.' },
  unknown_stop_reason: { meaning: 'The engine stopped for a reason in a word that the gateway does not know.' },
  paused: { meaning: 'The engine paused its turn; the caller reads that a limit was reached.' },
  paused_and_continued: { meaning: 'The engine paused its turn; the gateway asked it to go on.' },
} as const satisfies Record<string, FateCodeRow>;

export type AnswerCode = keyof typeof ANSWER_CODES;

/** Codes of answers are never harmless: nothing refuses an answer for them. */
export function isHarmless(code: string | undefined): boolean {
  return code !== undefined && rows[code]?.harmless === true;
}
