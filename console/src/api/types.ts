/** The shapes of the server's answers, taken from the very schemas it checks with. Types alone: nothing of `src/` reaches the browser. */
import type { z } from 'zod';
import type { AgentList, AgentPreview, AgentView } from '../../../src/gateway/api/agents.ts';
import type { Matrix } from '../../../src/gateway/api/backends.ts';
import type { BudgetList } from '../../../src/gateway/api/budgets.ts';
import type { BrowserList, Pairing, SessionInfo } from '../../../src/gateway/api/console.ts';
import type { EngineList } from '../../../src/gateway/api/engines.ts';
import type { ExplainResponse } from '../../../src/gateway/api/explain.ts';
import type { KeyList } from '../../../src/gateway/api/keys.ts';
import type { FieldTable } from '../../../src/gateway/api/matrix-fields.ts';
import type { ModelCatalogue } from '../../../src/gateway/api/model-catalogue.ts';
import type { RunReport } from '../../../src/gateway/api/reports.ts';
import type { Forecast, RunRow, RunRowList, Usage } from '../../../src/gateway/api/run-rows.ts';
import type { RunView } from '../../../src/gateway/api/runs.ts';
import type { MessageList, SessionList } from '../../../src/gateway/api/sessions.ts';

export type { FidelityEntry } from '../../../src/contract/negotiation.ts';
export type { ReceiptStub } from '../../../src/contract/receipts/chain.ts';
export type { LateEnd } from '../../../src/contract/receipts/late-end.ts';
export type { Receipt } from '../../../src/contract/receipts/receipt.ts';
export type { RecordingLine } from '../../../src/contract/receipts/recording.ts';
export type { AgentEvent } from '../../../src/contract/runs/event.ts';
export type { AgentPreview, AgentView, Forecast, Matrix, RunRow, RunRowList, Usage };
export type Session = z.infer<typeof SessionInfo>;
export type Engines = z.infer<typeof EngineList>;
export type Engine = Engines['items'][number];
/** The console asks about one engine at a time; a list of them would be answered with a list. */
export type Explained = Exclude<z.infer<typeof ExplainResponse>, { results: unknown }>;
export type Report = z.infer<typeof RunReport>;
export type Budgets = z.infer<typeof BudgetList>;
export type Fields = z.infer<typeof FieldTable>;
export type Catalogue = z.infer<typeof ModelCatalogue>;
export type Keys = z.infer<typeof KeyList>;
export type RunDetail = z.infer<typeof RunView>;
export type Agents = z.infer<typeof AgentList>;
export type Sessions = z.infer<typeof SessionList>;
export type Messages = z.infer<typeof MessageList>;
export type Paired = z.infer<typeof Pairing>;
export type Browsers = z.infer<typeof BrowserList>;

export interface Readiness {
  readonly status: string;
  readonly database: string;
  readonly journal: string;
  readonly chain: string;
  readonly bucket?: string;
}

export interface Health {
  readonly version: string;
}
