import { AbpError } from '../../src/contract/errors.ts';
import {
  type EngineOffer,
  type GatewayPort,
  NOTHING_SPENT,
  type RunAdmissionAsk,
  RunAdmitted,
  type RunClosing,
  type RunKeyRequest,
  type RunOpening,
  type RunSpend,
} from '../../src/runtime/gateway-port.ts';
import type { AgentKnowledge } from '../../src/runtime/runs/deps.ts';
import { FAKE_CAPABILITIES } from '../support/agents/test-adapter.ts';

/** A gateway that writes down what it is asked; runs without model calls need no more. */
export class PaperGateway implements GatewayPort {
  readonly url = 'http://127.0.0.1:1';
  readonly minted: RunKeyRequest[] = [];
  readonly asked: RunAdmissionAsk[] = [];
  readonly dropped: string[] = [];
  readonly claimed = new Set<string>();
  readonly facts: (RunOpening | RunClosing)[] = [];
  readonly enforcement = 'advisory';
  offered: EngineOffer = { engine: 'claude', credential: 'ours', speaksDialect: true, needsModel: false };
  spend: RunSpend = NOTHING_SPENT;

  async claim(run: string): Promise<void> {
    if (this.claimed.has(run)) throw new AbpError('conflict', `There is a run ${run} already.`);
    this.claimed.add(run);
  }
  async offer(): Promise<EngineOffer> {
    return this.offered;
  }
  async admit(ask: RunAdmissionAsk): Promise<RunAdmitted> {
    this.asked.push(ask);
    return new RunAdmitted('server');
  }
  async mintRunKey(request: RunKeyRequest): Promise<string> {
    this.minted.push(request);
    return 'abp_run_secret';
  }
  async dropRunKey(run: string): Promise<void> {
    this.dropped.push(run);
  }
  async spent(): Promise<RunSpend> {
    return this.spend;
  }
  async opened(fact: RunOpening): Promise<void> {
    this.facts.push(fact);
  }
  async closed(fact: RunClosing): Promise<void> {
    this.facts.push(fact);
  }
}

export const knowledge: AgentKnowledge = {
  effective: () => FAKE_CAPABILITIES,
  detect: async () => ({ installed: true, version: '1.2.3', path: process.execPath, effective: FAKE_CAPABILITIES }),
  check: () => undefined,
  wanted: (_, { model }) => ({ ...(model === undefined ? {} : { modelId: model }), thinking: {}, notes: [] }),
};
