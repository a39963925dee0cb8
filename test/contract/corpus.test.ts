import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { isJsonObject, type Json, parseJson } from '../../src/base/json.ts';
import { parseAt } from '../../src/contract/border.ts';
import { ErrorBody } from '../../src/contract/error-body.ts';
import { AbpError } from '../../src/contract/errors.ts';
import { CompatibilityReport, EmulationReport, NegotiationResult } from '../../src/contract/negotiation.ts';
import { PendingReceipt, Receipt } from '../../src/contract/receipts/receipt.ts';
import { AgentEvent, EVENT_NAMES } from '../../src/contract/runs/event.ts';
import { CapabilityManifest, CapabilityRequirements } from '../../src/contract/support.ts';
import { SidecarEnvelope, SidecarEvent, SidecarReceipt } from '../../src/contract/work-orders/sidecar.ts';
import { ForeignWorkOrder, WorkOrder } from '../../src/contract/work-orders/work-order.ts';

const corpus = join(import.meta.dirname, 'corpus', 'abp-v0.1');
const schemaFolder = join(import.meta.dirname, '..', '..', 'src', 'contract', 'schemas');

/** Each type of the corpus, with the JSON Schema file that must agree with it where one is published. */
const TYPES: Record<string, { schema: z.ZodType; file?: string }> = {
  AgentEvent: { schema: AgentEvent, file: 'event' },
  CapabilityManifest: { schema: CapabilityManifest, file: 'capability-manifest' },
  CapabilityRequirements: { schema: CapabilityRequirements, file: 'capability-requirements' },
  CompatibilityReport: { schema: CompatibilityReport, file: 'compatibility-report' },
  EmulationReport: { schema: EmulationReport, file: 'emulation-report' },
  ErrorBody: { schema: ErrorBody, file: 'error' },
  ForeignWorkOrder: { schema: ForeignWorkOrder },
  NegotiationResult: { schema: NegotiationResult, file: 'negotiation-result' },
  PendingReceipt: { schema: PendingReceipt },
  Receipt: { schema: Receipt, file: 'receipt' },
  SidecarEnvelope: { schema: SidecarEnvelope, file: 'sidecar-envelope' },
  SidecarEvent: { schema: SidecarEvent },
  SidecarReceipt: { schema: SidecarReceipt },
  WorkOrder: { schema: WorkOrder, file: 'work-order' },
};

interface Case {
  readonly name: string;
  readonly value: Json;
}

function parsed(text: string, name: string): Json {
  const result = parseJson(text);
  if (!result.ok) throw new Error(`${name}: ${result.message}`);
  return result.value;
}

/** A `.json` file is one case, a `.jsonl` file one case per line. */
function casesIn(folder: string): Case[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => {
      const text = readFileSync(join(folder, entry.name), 'utf8');
      if (!entry.name.endsWith('.jsonl')) return [{ name: entry.name, value: parsed(text, entry.name) }];
      const lines = text.trimEnd().split('\n');
      return lines.map((line, index) => ({ name: `${entry.name}:${index + 1}`, value: parsed(line, entry.name) }));
    });
}

function jsonSchemaCheck(file: string | undefined): (value: Json) => boolean | undefined {
  if (file === undefined) return () => undefined;
  const schema = parsed(readFileSync(join(schemaFolder, `${file}.json`), 'utf8'), file);
  if (!isJsonObject(schema)) throw new Error(`${file}.json is not an object`);
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  return (value) => validate(value) === true;
}

function refusalOf(schema: z.ZodType, value: unknown): AbpError {
  try {
    parseAt(schema, value, 'document');
  } catch (error) {
    if (AbpError.is(error)) return error;
    throw error;
  }
  throw new Error('the document was accepted');
}

it('has a folder for every type and a type for every folder', () => {
  expect(readdirSync(corpus).sort()).toEqual(Object.keys(TYPES).sort());
});

it('has an example of every event', () => {
  const types = casesIn(join(corpus, 'AgentEvent')).map(({ value }) => (isJsonObject(value) ? value.type : undefined));
  expect(new Set(types)).toEqual(new Set(EVENT_NAMES));
});

describe.each(Object.entries(TYPES))('%s', (type, { schema, file }) => {
  const bySchemaFile = jsonSchemaCheck(file);

  it.each(casesIn(join(corpus, type)))('accepts $name and writes it back unchanged', ({ value }) => {
    expect(parseAt(schema, value, type)).toEqual(value);
    expect(bySchemaFile(value)).not.toBe(false);
  });

  it.each(casesIn(join(corpus, type, 'rejection')))('refuses $name and names the path', ({ value }) => {
    if (!isJsonObject(value)) throw new Error('a rejection is {input, path}');
    const refusal = refusalOf(schema, value.input);
    expect(refusal.code).toBe('invalid_request');
    expect(refusal.details.issues).toContainEqual({ path: value.path, message: expect.any(String) });
    expect(value.input === undefined ? undefined : bySchemaFile(value.input)).not.toBe(true);
  });
});
