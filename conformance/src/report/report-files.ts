// Writes a report so that its path holds the whole of it or nothing: a new file beside it takes its place when every byte is there. An
// old report never survives the start of a run, because a CI job would believe it. It knows nothing of what is written.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export type ReportFile = { readonly path: string; readonly text: string };

/** Makes the folder and takes an older report away. The reason why it cannot be, one sentence; undefined when all is well. */
export function prepareFault(path: string): string | undefined {
  return faultOf(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    const probe = besides(path);
    writeFileSync(probe, '');
    rmSync(probe);
    rmSync(path, { force: true });
  });
}

/** Undefined when the file stands there complete, else why not: one sentence. */
export function writeFault({ path, text }: ReportFile): string | undefined {
  const beside = besides(path);
  const fault = faultOf(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(beside, text);
    renameSync(beside, path);
  });
  if (fault !== undefined) rmSync(beside, { force: true });
  return fault;
}

function besides(path: string): string {
  return `${path}.${process.pid}.new`;
}

function faultOf(path: string, write: () => void): string | undefined {
  try {
    write();
    return undefined;
  } catch (error) {
    return `${path} could not be written: ${(error as Error).message}`;
  }
}
