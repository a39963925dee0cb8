import { describe, expect, it } from 'vitest';
import { CompatibilityReport } from '../contract/negotiation.ts';
import { negotiate } from './negotiate.ts';
import { generateReport } from './report.ts';

describe('generateReport', () => {
  it('writes the JSON example of a CompatibilityReport', () => {
    const report = generateReport({ native: ['streaming', 'tool_read'], emulatable: ['tool_write'], unsupported: [] });
    expect(JSON.stringify(report, null, 2)).toBe(`{
  "compatible": true,
  "native_count": 2,
  "emulated_count": 1,
  "unsupported_count": 0,
  "summary": "2 native, 1 emulatable, 0 unsupported — fully compatible",
  "details": [
    [
      "Streaming",
      {
        "level": "native"
      }
    ],
    [
      "ToolRead",
      {
        "level": "native"
      }
    ],
    [
      "ToolWrite",
      {
        "level": "emulated",
        "strategy": "adapter"
      }
    ]
  ]
}`);
  });

  it('says incompatible when something is unsupported', () => {
    expect(generateReport({ native: ['streaming'], emulatable: ['tool_read'], unsupported: ['tool_edit'] })).toEqual({
      compatible: false,
      native_count: 1,
      emulated_count: 1,
      unsupported_count: 1,
      summary: '1 native, 1 emulatable, 1 unsupported — incompatible',
      details: [
        ['Streaming', { level: 'native' }],
        ['ToolRead', { level: 'emulated', strategy: 'adapter' }],
        ['ToolEdit', { level: 'unsupported' }],
      ],
    });
  });

  it('gives the reason of a restriction only when the manifest is at hand', () => {
    const manifest = { tool_bash: { restricted: { reason: 'sandbox only' } } };
    const result = negotiate(manifest, { required: [{ capability: 'tool_bash', min_support: 'emulated' }] });
    expect(generateReport(result).details).toEqual([['ToolBash', { level: 'emulated', strategy: 'adapter' }]]);
    expect(generateReport(result, manifest).details).toEqual([['ToolBash', { level: 'emulated', strategy: 'restricted: sandbox only' }]]);
  });

  it('lists native, then emulatable, then unsupported, each in the order of the requirements', () => {
    const manifest = { tool_grep: 'native', tool_glob: 'emulated', streaming: 'native' } as const;
    const required = (['mcp_server', 'tool_grep', 'tool_glob', 'audio', 'streaming'] as const).map((capability) => ({
      capability,
      min_support: 'native' as const,
    }));
    const { details } = generateReport(negotiate(manifest, { required }), manifest);
    expect(details.map(([name]) => name)).toEqual(['ToolGrep', 'Streaming', 'ToolGlob', 'McpServer', 'Audio']);
  });

  it('is compatible when nothing is required', () => {
    const report = generateReport({ native: [], emulatable: [], unsupported: [] });
    expect(report.summary).toBe('0 native, 0 emulatable, 0 unsupported — fully compatible');
    expect(CompatibilityReport.parse(report)).toEqual(report);
  });
});
