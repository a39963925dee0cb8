import { expect, it } from 'vitest';
import type {
  AgentCapabilities,
  AgentEvent,
  ModelCapabilities,
  RunOptions,
  RunResult,
  ThinkingEffortLevel,
} from '../../src/node/client.ts';
import * as main from '../../src/node/client.ts';
import * as contract from '../../src/node/contract.ts';

it('the package exports the errors and the types of coding agents', () => {
  expect(Object.keys(main)).toEqual(
    expect.arrayContaining(['createClient', 'AgentMuxError', 'CapabilityError', 'ValidationError', 'AuthError']),
  );
  // Types are checked where this file is compiled.
  const level: ThinkingEffortLevel = 'high';
  const options: RunOptions = { agent: 'claude', prompt: 'hi', thinkingEffort: level };
  const read = (caps: AgentCapabilities, model: ModelCapabilities | null, event: AgentEvent, result: RunResult): unknown[] => [
    caps.supportsThinking,
    model?.modelId,
    event.type,
    result.exitReason,
  ];
  expect([options.agent, typeof read]).toEqual(['claude', 'function']);
});

it('a refusal of a gate is a CapabilityError that a program can tell by its class', () => {
  const mux = main.createClient({ env: { PATH: '' } });
  expect(() => mux.run({ agent: 'pi', prompt: 'hi', mcpServers: [{ name: 'x', transport: 'stdio', command: 'x' }] })).toThrow(
    main.CapabilityError,
  );
});

it('agent-backplane/contract negotiates and builds work orders', () => {
  const { negotiate, generateReport, workOrder, EmulationConfig, EmulationEngine } = contract;
  const result = negotiate({ streaming: 'native' }, { required: [{ capability: 'streaming', min_support: 'native' }] });
  expect(generateReport(result)).toMatchObject({ compatible: true });
  expect(workOrder('fix it').build()).toMatchObject({ task: 'fix it' });
  expect(new EmulationEngine(new EmulationConfig())).toBeInstanceOf(EmulationEngine);
});
