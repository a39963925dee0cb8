import {
  applyEmulation,
  type CapabilityManifest,
  type CapabilityRequirement,
  type CapabilityRequirements,
  type CompatibilityReport,
  canEmulate,
  checkCapability,
  defaultStrategy,
  EmulationConfig,
  EmulationEngine,
  type EmulationReport,
  generateReport,
  hasUnemulatable,
  type IrConversation,
  isCompatible,
  isEmpty,
  negotiate,
  satisfies,
  total,
  type WorkOrder,
  workOrder,
} from 'agent-backplane/contract';

const needs = (
  ...pairs: readonly [CapabilityRequirement['capability'], CapabilityRequirement['min_support']][]
): CapabilityRequirements => ({
  required: pairs.map(([capability, min_support]) => ({ capability, min_support })),
});

/** Whether every requirement is met by its level: the four examples of the capability matrix, in their order. */
export function satisfied(): readonly boolean[] {
  const examples: readonly (readonly [CapabilityManifest, CapabilityRequirements])[] = [
    [{ streaming: 'native', tool_read: 'emulated' }, needs(['streaming', 'native'], ['tool_read', 'emulated'])],
    [{ streaming: 'emulated' }, needs(['streaming', 'native'])],
    [{ streaming: 'native' }, needs(['streaming', 'native'], ['mcp_client', 'emulated'])],
    [{ tool_bash: { restricted: { reason: 'sandbox only' } } }, needs(['tool_bash', 'emulated'])],
  ];
  return examples.map(([manifest, { required }]) =>
    required.every(({ capability, min_support }) => {
      const level = manifest[capability];
      return level !== undefined && satisfies(level, min_support);
    }),
  );
}

/** The negotiation that the guide draws, and the report whose JSON it shows. */
export function negotiated(): readonly [compatible: boolean, count: number, report: CompatibilityReport] {
  const manifest: CapabilityManifest = { streaming: 'native', tool_read: 'native', tool_write: 'emulated' };
  const result = negotiate(manifest, needs(['streaming', 'native'], ['tool_read', 'emulated'], ['tool_write', 'emulated']));
  return [isCompatible(result), total(result), generateReport(result)];
}

export function classified(): readonly string[] {
  const manifest: CapabilityManifest = { streaming: 'native', tool_read: 'emulated', tool_bash: { restricted: { reason: 'sandbox' } } };
  return (['streaming', 'tool_read', 'tool_bash', 'tool_edit'] as const).map((capability) => checkCapability(manifest, capability).level);
}

const conversation: IrConversation = { messages: [{ role: 'user', parts: [{ kind: 'text', text: 'hello' }] }] };

/** The engine with its default table, and with a strategy of the caller's own. */
export function emulated(): readonly [EmulationReport, EmulationReport, boolean, boolean] {
  const { report } = EmulationEngine.withDefaults().apply(['extended_thinking', 'code_execution'], conversation);
  const config = new EmulationConfig();
  config.set('code_execution', { type: 'system_prompt_injection', prompt: 'Simulate code execution step by step.' });
  const own = new EmulationEngine(config).apply(['code_execution'], conversation);
  const same = applyEmulation(config, ['code_execution'], conversation);
  if (JSON.stringify(own) !== JSON.stringify(same)) throw new Error('the function does something else than the engine');
  return [report, own.report, hasUnemulatable(report), isEmpty(own.report)];
}

export function strategies(): readonly [string, string, boolean, boolean] {
  const [thinking, reading] = [defaultStrategy('extended_thinking').type, defaultStrategy('tool_read').type];
  return [thinking, reading, canEmulate('extended_thinking'), canEmulate('code_execution')];
}

export function order(): WorkOrder {
  return workOrder('fix the failing test')
    .requirements(needs(['streaming', 'native']))
    .build();
}
