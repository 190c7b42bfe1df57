// `truemq store compact`: makes the file as small as its contents.

import { compactStore } from '../../storage/sqlite/compaction.ts';
import { type CommandContext, ExitCode } from '../command.ts';
import { formatBytes } from './bytes.ts';

export async function compact(path: string, { stdout }: CommandContext): Promise<ExitCode> {
  const { bytesBefore, bytesAfter } = await compactStore(path);
  stdout.write(`${path}: ${formatBytes(bytesBefore)} before, ${formatBytes(bytesAfter)} now\n`);
  return ExitCode.Done;
}
