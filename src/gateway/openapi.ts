import { z } from 'zod';
import { ErrorBody } from '../contract/error-body.ts';
import { dialects } from '../dialects/index.ts';
import { Problem } from './api/problem.ts';
import { hasPermission, permissionOf } from './auth/permissions.ts';
import { isProblemPath } from './door/problem.ts';
import type { Route } from './route.ts';

const jsonContent = (schema: unknown): object => ({ 'application/json': { schema } });

/** OpenAPI 3.1 of the control routes, made from their schemas, and of the vendor paths, whose bodies are the vendors' own. */
export function openApi(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  }
  for (const dialect of dialects) {
    for (const { method, path, operation: kind } of dialect.paths) {
      paths[path] = { ...paths[path], [method.toLowerCase()]: vendorOperation(dialect.id, kind) };
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Agent Backplane', version, description: 'One process between agent code and every model and coding agent.' },
    paths,
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-ABP-Key' } },
      schemas: { Error: schemaOf(ErrorBody), Problem: schemaOf(Problem) },
    },
  };
}

function schemaOf(schema: z.ZodType): object {
  const { $schema: _draft, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}

/** The first word behind the version: receipts, runs, keys. */
export function tagOf({ path }: Pick<Route, 'path'>): string {
  return /^\/v1\/([\w-]+)/.exec(path)?.[1] ?? 'server';
}

function operation(route: Route): object {
  const permission = permissionOf(route);
  return {
    tags: [tagOf(route)],
    summary: route.summary,
    ...(hasPermission('local', permission) ? {} : { security: [{ key: [] }] }),
    'x-abp-permission': permission,
    parameters: [...parameters('path', route.params), ...parameters('query', route.query)],
    ...(route.body === undefined ? {} : { requestBody: { required: true, content: jsonContent(schemaOf(route.body)) } }),
    responses: {
      200: { description: 'OK', ...(route.response === undefined ? {} : { content: jsonContent(schemaOf(route.response)) }) },
      ...(route.accepted === undefined ? {} : { 202: { description: 'Not yet', content: jsonContent(schemaOf(route.accepted)) } }),
      default: { description: 'Error', content: errorContent(route.path) },
    },
  };
}

function errorContent(path: string): object {
  if (!isProblemPath(path)) return jsonContent({ $ref: '#/components/schemas/Error' });
  return { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
}

function parameters(place: 'path' | 'query', schema: z.ZodType | undefined): object[] {
  if (schema === undefined) return [];
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return Object.entries(json.properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || (json.required ?? []).includes(name),
    schema: property,
  }));
}

function vendorOperation(dialect: string, kind: string): object {
  return {
    tags: [`vendor: ${dialect}`],
    summary: `${dialect}: ${kind}`,
    description: 'The vendor’s own body, headers and answer. `/e/{engine}` before the path chooses the engine.',
    responses: { default: { description: 'The vendor’s own answer, with X-ABP-Run-Id.' } },
  };
}
