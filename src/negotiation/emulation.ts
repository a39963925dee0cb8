import { type Capability, variantName } from '../contract/capability.ts';
import type { EmulationReport, EmulationStrategy } from '../contract/negotiation.ts';
import { type IrConversation, type IrMessage, messageText } from '../ir/conversation.ts';
import type { TextPart } from '../ir/part.ts';

const DEFAULT_STRATEGIES: Readonly<Partial<Record<Capability, EmulationStrategy>>> = {
  extended_thinking: { type: 'system_prompt_injection', prompt: 'Think step by step before answering.' },
  structured_output_json_schema: { type: 'post_processing', detail: 'Parse and validate JSON from text response' },
  code_execution: { type: 'disabled', reason: 'Cannot safely emulate sandboxed code execution' },
};

/** How a capability is approximated when nobody says otherwise. */
export function defaultStrategy(capability: Capability): EmulationStrategy {
  return DEFAULT_STRATEGIES[capability] ?? { type: 'disabled', reason: `No emulation available for ${variantName(capability)}` };
}

/** Whether the default strategy of a capability does anything. */
export function canEmulate(capability: Capability): boolean {
  return defaultStrategy(capability).type !== 'disabled';
}

/** Strategies that replace the default ones, by capability. */
export class EmulationConfig {
  readonly #strategies = new Map<Capability, EmulationStrategy>();

  set(capability: Capability, strategy: EmulationStrategy): this {
    this.#strategies.set(capability, strategy);
    return this;
  }

  /** The strategy set for the capability, else its default. */
  strategyFor(capability: Capability): EmulationStrategy {
    return this.#strategies.get(capability) ?? defaultStrategy(capability);
  }
}

/** A conversation after emulation, and what was done to it. */
export interface Emulated<C extends IrConversation> {
  readonly conversation: C;
  readonly report: EmulationReport;
}

/** Applies strategies to conversations; the given conversation is never changed. */
export class EmulationEngine {
  readonly #config: EmulationConfig;

  constructor(config: EmulationConfig) {
    this.#config = config;
  }

  static withDefaults(): EmulationEngine {
    return new EmulationEngine(new EmulationConfig());
  }

  /**
   * Approximates the capabilities in their order. A repeated capability counts once. A conversation that already carries an
   * injection keeps it as it is, and the report names it again: it says what holds for the conversation.
   */
  apply<C extends IrConversation>(capabilities: readonly Capability[], conversation: C): Emulated<C> {
    const report: EmulationReport = { applied: [], warnings: [] };
    let messages = conversation.messages;
    for (const capability of new Set(capabilities)) {
      const strategy = this.#config.strategyFor(capability);
      if (strategy.type === 'disabled') {
        report.warnings.push(`Capability ${variantName(capability)} not emulated: ${strategy.reason}`);
        continue;
      }
      report.applied.push({ capability, strategy });
      if (strategy.type === 'system_prompt_injection') messages = inject(messages, capability, strategy.prompt);
    }
    return { conversation: messages === conversation.messages ? conversation : { ...conversation, messages }, report };
  }
}

/** Applies emulations with a given config. */
export function applyEmulation<C extends IrConversation>(
  config: EmulationConfig,
  capabilities: readonly Capability[],
  conversation: C,
): Emulated<C> {
  return new EmulationEngine(config).apply(capabilities, conversation);
}

/** Nothing was applied and nothing was refused. */
export function isEmpty(report: EmulationReport): boolean {
  return report.applied.length === 0 && report.warnings.length === 0;
}

/** At least one requested capability could not be emulated. */
export function hasUnemulatable(report: EmulationReport): boolean {
  return report.warnings.length > 0;
}

function inject(messages: readonly IrMessage[], capability: Capability, prompt: string): readonly IrMessage[] {
  const index = messages.findIndex((message) => message.role === 'system');
  const system = messages[index];
  if (system === undefined) return [{ role: 'system', parts: [injected(capability, prompt, prompt)] }, ...messages];
  if (messages.some((message) => carries(message, capability, prompt))) return messages;
  // Dialects with a single system string join the parts without a separator, so the new part brings its own.
  const text = messageText(system) === '' ? prompt : `\n${prompt}`;
  return messages.with(index, { ...system, parts: [...system.parts, injected(capability, prompt, text)] });
}

/** The mark makes a second application recognise the first; no dialect is called `abp`, so it never reaches a vendor. */
function injected(capability: Capability, prompt: string, text: string): TextPart {
  return { kind: 'text', text, meta: { abp: { emulates: capability, prompt } } };
}

function carries(message: IrMessage, capability: Capability, prompt: string): boolean {
  return message.parts.some(({ meta }) => meta?.abp?.emulates === capability && meta.abp.prompt === prompt);
}
