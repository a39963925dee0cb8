import { PythonSandbox } from '../../src/platform/sandbox/python.ts';

/** Python with a limit that a busy machine keeps too, for code that ends by itself. A test of a limit names its own. */
class PatientPython extends PythonSandbox {
  override run(...[code, { limits, ...more } = {}]: Parameters<PythonSandbox['run']>): ReturnType<PythonSandbox['run']> {
    return super.run(code, { ...more, limits: { timeMs: 60_000, ...limits } });
  }
}

export const python = new PatientPython();
