import type { CacheTerms } from '../../contract/cache-terms.ts';
import type { Capability } from '../../contract/capability.ts';
import type { AbpError } from '../../contract/errors.ts';
import type { Recording } from '../../contract/receipts/parts.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { TrafficRow } from '../../contract/runs/run-traffic.ts';
import type { CapabilityRequirements, Compatibility } from '../../contract/support.ts';
import type { PathMatch } from '../../dialects/paths.ts';
import type { AnswerChange } from '../../mapping/answer-filter.ts';
import type { Asked, Prepared } from '../../mapping/prepare.ts';
import type { Route } from '../../mapping/route.ts';
import type { Scan } from '../../mapping/scan/scan.ts';
import type { PatchedText, ThinkingOverride } from '../../mapping/thinking-override.ts';
import type { ToolRules } from '../../mapping/tools/tool-rules.ts';
import type { BodiesAside } from '../../receipts/bodies/bodies-aside.ts';
import type { Admitted } from '../admission.ts';
import type { CallOwner } from '../call.ts';
import type { Deployment } from '../deployment.ts';

/** A call of a vendor's SDK, as far as its request line and headers tell it. */
export interface VendorCall {
  readonly runId: RunId;
  readonly match: PathMatch;
  /** The request line, without our prefixes, and the engine that a prefix names. */
  readonly target: { readonly path: string; readonly query: string; readonly engine: string | undefined };
  /** Names and values in turn, as they came. */
  readonly headers: readonly string[];
  readonly options: CallOptions;
  readonly owner: CallOwner;
  /** Whose share of the memory for bodies the call takes. */
  readonly share: string;
  readonly recording: RecordingWish;
}

/** Wishes of the caller in `X-ABP-…` headers; where these are silent, the terms of its run key. */
export interface CallOptions {
  readonly engine: string | undefined;
  /** The deployment of the engine that it must be. */
  readonly deployment: string | undefined;
  /** The caller's name for the conversation, whose calls stay on one deployment. */
  readonly session: string | undefined;
  /** The model of the call, whatever its body says. */
  readonly model: string | undefined;
  readonly compatibility: Compatibility;
  readonly requirements: CapabilityRequirements;
  readonly emulate: readonly Capability[];
  readonly traffic: readonly TrafficRow[];
  readonly thinking: ThinkingOverride | undefined;
  readonly unknownLeaves: 'refuse' | 'report';
  /** Rules about tools that the call is held to. */
  readonly toolRules: readonly ToolRules[];
  /** Whether the key's answers are given again; a route that says so comes first. */
  readonly cache?: CacheTerms | undefined;
  /** Denied tools are taken out of its requests; a caller whose bytes must pass as they are is refused instead. */
  readonly mayEdit: boolean;
}

/** How much of a run is kept: the lesser of what the key and the route say; where neither says, what the installation does. */
export interface RecordingWish {
  readonly key: string | null;
  readonly otherwise: Recording;
}

/** A call's body. */
export interface Body {
  /** As the caller sent it, perhaps compressed. */
  readonly body: Buffer;
  /** The JSON text in it. */
  readonly text: Buffer;
}

/** A body and what routing needs of it. */
export interface Read extends Body {
  readonly scan: Scan;
  /** SHA-256 of the body, where it is known already. */
  readonly sha256?: string;
  /** Of a large body: what was made of it aside. */
  readonly aside?: Aside;
  /** Of a large body that is recorded: the file where it is already. */
  readonly kept?: BodiesAside;
}

/** Results of the threads for a large body so far, by route; the plan of a try is made of them. */
export interface Aside {
  readonly prepared: Map<string, Prepared>;
  readonly patched: Map<string, PatchedText | AbpError>;
  /** The body with another model name, by that name. */
  readonly renamed: Map<string, { readonly body: Buffer; readonly sha256: string }>;
}

/** The request to send: the caller's bytes (with another model name or another thinking at most), or a translation. */
export type Draft =
  | {
      readonly kind: 'relay';
      readonly route: Route;
      readonly body: Buffer;
      /** The body is no longer in the encoding that the caller's headers name. */
      readonly decoded: boolean;
    }
  | {
      readonly kind: 'translate';
      readonly route: Route;
      readonly body: Buffer;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly asked: Asked;
      readonly changes: readonly AnswerChange[];
    };

/** A draft that every check has let pass and the journal knows of, and the place that it goes to. */
export type Plan = Draft & { readonly admitted: Admitted; readonly deployment: Deployment };
