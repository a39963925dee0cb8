import { type PostReceiver, startReceiver } from './posts.ts';

/** A span as a collector gets it, with its attributes as an object. */
export interface ReceivedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code?: number };
  readonly seconds: number;
  readonly schemaUrl: string;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A point of a histogram. */
export interface ReceivedPoint {
  readonly metric: string;
  readonly unit: string;
  readonly count: number;
  readonly sum: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}
type Attributes = readonly { readonly key: string; readonly value: Value }[];

interface TracesBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly {
      readonly schemaUrl: string;
      readonly spans: readonly (Omit<ReceivedSpan, 'attributes' | 'seconds' | 'schemaUrl' | 'resource'> & {
        readonly attributes: Attributes;
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
      })[];
    }[];
  }[];
}

interface MetricsBody {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly {
      readonly metrics: readonly {
        readonly name: string;
        readonly unit: string;
        readonly histogram: {
          readonly dataPoints: readonly { readonly count: number | string; readonly sum: number; readonly attributes: Attributes }[];
        };
      }[];
    }[];
  }[];
}

function attributesOf(list: Attributes = []): Record<string, unknown> {
  return Object.fromEntries(
    list.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? (doubleValue ?? boolValue) : Number(intValue)),
    ]),
  );
}

/** A collector that understands OTLP over HTTP in JSON, as far as our traces and metrics use it. */
export class OtlpReceiver {
  readonly #receiver: PostReceiver;

  private constructor(receiver: PostReceiver) {
    this.#receiver = receiver;
  }

  static async start(): Promise<OtlpReceiver> {
    return new OtlpReceiver(await startReceiver());
  }

  get url(): string {
    return this.#receiver.url;
  }

  /** Everything that came, as text. */
  get text(): string {
    return this.#receiver.posts.map(({ body }) => body).join('\n');
  }

  get spans(): ReceivedSpan[] {
    return this.#of<TracesBody>('/v1/traces').flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap(({ spans, schemaUrl }) =>
          spans.map((span) => ({
            ...span,
            parentSpanId: span.parentSpanId || undefined,
            attributes: attributesOf(span.attributes),
            seconds: (Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano)) / 1e9,
            schemaUrl,
            resource: attributesOf(resource.attributes),
          })),
        ),
      ),
    );
  }

  /** Points of histograms; the last of each series counts, because each export tells the sum so far. */
  get points(): ReceivedPoint[] {
    const points = this.#of<MetricsBody>('/v1/metrics').flatMap(({ resourceMetrics }) =>
      resourceMetrics.flatMap(({ scopeMetrics }) =>
        scopeMetrics.flatMap(({ metrics }) =>
          metrics.flatMap(({ name, unit, histogram }) =>
            histogram.dataPoints.map(({ count, sum, attributes }) => ({
              metric: name,
              unit,
              count: Number(count),
              sum,
              attributes: attributesOf(attributes),
            })),
          ),
        ),
      ),
    );
    return [...new Map(points.map((point) => [`${point.metric} ${JSON.stringify(point.attributes)}`, point])).values()];
  }

  /** Bodies that came to a path; a test that looks for a member which is missing fails there. */
  #of<T>(path: string): T[] {
    return this.#receiver.posts.filter((post) => post.path === path).map(({ body }) => JSON.parse(body) as T);
  }
}
