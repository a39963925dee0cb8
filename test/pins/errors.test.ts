import { expect, it } from 'vitest';
import { ErrorBody } from '../../src/contract/error-body.ts';
import { AbpError, capabilityMissing, ERRORS, errorBody, unsupportedFeature } from '../../src/contract/errors.ts';

it.each([
  ['E001', 'UnsupportedFeature', 400, false],
  ['E002', 'UnsupportedTool', 400, false],
  ['E003', 'AmbiguousMapping', 400, false],
  ['E004', 'RequiresInteractiveApproval', 403, true],
  ['E005', 'UnsafeByPolicy', 403, false],
  ['E006', 'BackendCapabilityMissing', 501, false],
  ['E007', 'BackendUnavailable', 503, true],
] as const)('%s is %s with status %i', (code, type, status, retryable) => {
  expect(ERRORS[code]).toMatchObject({ type, status, retryable });
});

it('keeps the codes, statuses and retry advice of its own errors', () => {
  const own = Object.entries(ERRORS).filter(([code]) => !/^E\d{3}$/.test(code));
  expect(own.map(([code, row]) => `${code} ${row.type} ${row.status} ${row.retryable}`)).toEqual([
    'invalid_request InvalidRequest 400 false',
    'unauthenticated Unauthenticated 401 false',
    'forbidden Forbidden 403 false',
    'not_found NotFound 404 false',
    'replay_miss ReplayMiss 404 false',
    'method_not_allowed MethodNotAllowed 405 false',
    'request_timeout RequestTimeout 408 true',
    'conflict Conflict 409 false',
    'payload_too_large PayloadTooLarge 413 false',
    'unsupported_media_type UnsupportedMediaType 415 false',
    'misdirected_request MisdirectedRequest 421 false',
    'unprocessable Unprocessable 422 false',
    'upgrade_required UpgradeRequired 426 false',
    'headers_too_large HeadersTooLarge 431 false',
    'rate_limited RateLimited 429 true',
    'budget_exceeded BudgetExceeded 429 false',
    'internal InternalError 500 false',
    'engine_failed EngineFailed 502 true',
    'overloaded Overloaded 503 true',
    'engine_timeout EngineTimeout 504 true',
    'max_iterations TooManyIterations 409 false',
    'budget_exhausted BudgetExhausted 402 false',
    'no_progress NoProgress 500 true',
    'CAPABILITY_ERROR CapabilityError 422 false',
    'VALIDATION_ERROR ValidationError 400 false',
    'AUTH_ERROR AuthError 409 false',
    'AGENT_NOT_FOUND AgentNotFound 404 false',
    'AGENT_NOT_INSTALLED AgentNotInstalled 409 false',
    'AGENT_CRASH AgentCrash 502 true',
    'SPAWN_ERROR SpawnError 500 false',
    'TIMEOUT RunTimeout 504 true',
    'INACTIVITY_TIMEOUT RunInactivityTimeout 504 true',
    'PARSE_ERROR ParseError 502 false',
    'PROTOCOL_HANDSHAKE_FAILED ProtocolHandshakeFailed 502 false',
    'PROTOCOL_VERSION_MISMATCH ProtocolVersionMismatch 502 false',
    'PROTOCOL_INVALID_ENVELOPE ProtocolInvalidEnvelope 502 false',
    'PROTOCOL_UNEXPECTED_MESSAGE ProtocolUnexpectedMessage 502 false',
    'SIDECAR_FAILED SidecarFailed 502 false',
    'CONFIG_ERROR RunConfigError 400 false',
    'CONFIG_LOCK_ERROR ConfigLockError 409 true',
    'SESSION_NOT_FOUND SessionNotFound 404 false',
    'PROFILE_NOT_FOUND ProfileNotFound 404 false',
    'PLUGIN_ERROR PluginError 502 false',
    'RATE_LIMITED RateLimited 429 true',
    'CONTEXT_EXCEEDED ContextExceeded 422 false',
    'ABORTED RunAborted 409 false',
    'RUN_NOT_ACTIVE RunNotActive 409 false',
    'STDIN_NOT_AVAILABLE StdinNotAvailable 409 false',
    'NO_PENDING_INTERACTION NoPendingInteraction 409 false',
    'INTERACTION_NOT_FOUND InteractionNotFound 404 false',
    'INVALID_STATE_TRANSITION InvalidStateTransition 409 false',
    'PTY_NOT_AVAILABLE PtyNotAvailable 501 false',
    'UNKNOWN_AGENT UnknownAgent 404 false',
    'INTERNAL RunInternalError 500 false',
  ]);
});

const context = {
  requestId: 'req_abc123',
  timestamp: '2024-01-15T10:30:00Z',
  documentationBase: 'http://127.0.0.1:8088',
};

it('writes the error of the seed word for word', () => {
  const parties = { dialectId: 'claude', dialectStyle: 'claude-style', engineId: 'gemini', engineName: 'Gemini' };
  const body = errorBody(unsupportedFeature('extended_thinking', 'Extended thinking', parties), context);
  expect(body).toEqual({
    error: {
      code: 'E001',
      type: 'UnsupportedFeature',
      message: 'Extended thinking is not supported by Gemini backend',
      details: {
        feature: 'extended_thinking',
        dialect: 'claude-style',
        dialect_id: 'claude',
        engine: 'gemini',
        documentation_url: 'http://127.0.0.1:8088/docs/errors/E001',
      },
      request_id: 'req_abc123',
      timestamp: '2024-01-15T10:30:00Z',
      retryable: false,
    },
  });
  expect(Object.keys(body.error)).toEqual(['code', 'type', 'message', 'details', 'request_id', 'timestamp', 'retryable']);
  expect(ErrorBody.parse(body)).toEqual(body);
});

it('tells a capability that is missing from one that is too weak', () => {
  const missing = capabilityMissing({ capability: 'logprobs', level: null, minSupport: 'emulated', backend: 'engine:claude' });
  expect(missing.details).toMatchObject({ capability: 'logprobs', support_level: 'unsupported', cause: 'CAPABILITY_UNSUPPORTED' });
  const weak = capabilityMissing({ capability: 'json_mode', level: 'emulated', minSupport: 'native', backend: 'engine:claude' });
  expect(weak.details).toMatchObject({ capability: 'json_mode', support_level: 'emulated', cause: 'REQUIRES_NATIVE' });
  expect(weak.row.status).toBe(501);
});

it('recognises its errors across copies of the module and nothing else', () => {
  expect(AbpError.is(new AbpError('E007', 'down'))).toBe(true);
  expect(AbpError.is(new Error('down'))).toBe(false);
});
