import { adaptersDoc } from './adapters-doc.ts';
import { capabilitiesDoc } from './capabilities-doc.ts';
import { cliDoc } from './cli-doc.ts';
import { configDoc } from './config-doc.ts';
import { conformanceDoc } from './conformance-doc.ts';
import { enginesDoc } from './engines-doc.ts';
import { errorsDoc } from './errors-doc.ts';
import { eventsDoc } from './events-doc.ts';
import type { GeneratedFile } from './generated-file.ts';
import { httpDoc } from './http-doc.ts';
import { matrixDoc } from './matrix-doc.ts';
import { observabilityDoc } from './observability-doc.ts';
import { permissionsDoc } from './permissions-doc.ts';
import { pythonClientsDoc } from './python-clients-doc.ts';
import { schemaFiles } from './schemas.ts';
import { simDoc } from './sim-doc.ts';

/** Every generated file. A new generator is one file in this folder and one line here. */
export const generatedFiles: readonly GeneratedFile[] = [
  ...schemaFiles,
  errorsDoc,
  capabilitiesDoc,
  matrixDoc,
  adaptersDoc,
  configDoc,
  enginesDoc,
  cliDoc,
  httpDoc,
  permissionsDoc,
  eventsDoc,
  conformanceDoc,
  observabilityDoc,
  pythonClientsDoc,
  simDoc,
];
