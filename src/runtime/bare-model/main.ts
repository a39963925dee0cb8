import { parseShallowObject } from '../../base/json-limits.ts';
import { parseAt } from '../../contract/border.ts';
import { CapabilityManifest } from '../../contract/support.ts';
import { serveSidecar } from '../../sidecar/sidecar.ts';
import { bareModel } from './bare-model.ts';

/** The program of an engine backend: started by the run engine, which sets these variables. */
const {
  ABP_GATEWAY_URL: url = '',
  ABP_GATEWAY_KEY: key = '',
  ABP_GATEWAY_ENGINE: engine = '',
  ABP_SIDECAR_CAPABILITIES = '{}',
} = process.env;

const capabilities = parseAt(CapabilityManifest, parseShallowObject(ABP_SIDECAR_CAPABILITIES), 'ABP_SIDECAR_CAPABILITIES');
await serveSidecar(bareModel({ id: `engine:${engine}`, capabilities, gateway: { url, key, engine } }));
