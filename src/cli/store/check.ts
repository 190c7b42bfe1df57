// `truemq store check`: is the file valid, would a broker start with it, can every message in it be delivered? Reads only.

import { openStoreFile, type StoreFile } from '../../storage/sqlite/store-file.ts';
import { StoreError } from '../../storage/storage-provider.ts';
import { type CommandContext, ExitCode } from '../command.ts';
import { defaultBrokerSettings } from './default-settings.ts';
import { StoreExamination } from './store-examination.ts';

/** Problems that are printed; the others are counted. */
const MAX_SHOWN = 20;

export async function checkStore(path: string, { stdout }: CommandContext): Promise<ExitCode> {
  const file = await openStoreFile(path);
  try {
    const { problems, summary } = examine(file);
    if (problems.length === 0) {
      stdout.write(`${path} is sound: ${summary}\n`);
      return ExitCode.Done;
    }
    stdout.write(complaints(path, problems));
    return ExitCode.Failed;
  } finally {
    await file.close();
  }
}

function examine(file: StoreFile): { readonly problems: readonly string[]; readonly summary: string } {
  const examination = new StoreExamination(defaultBrokerSettings());
  const problems = [...file.problems()];
  try {
    for (const record of file.records(({ message }) => void problems.push(message))) {
      const problem = examination.take(record);
      if (problem !== undefined) problems.push(problem);
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    problems.push(error.message);
  }
  const { queueCount, messageCount, deadLetterCount } = examination;
  return {
    problems,
    summary: `queues ${queueCount}, messages ${messageCount}, of these dead letters ${deadLetterCount}`,
  };
}

function complaints(path: string, problems: readonly string[]): string {
  const hidden = problems.length - MAX_SHOWN;
  return [
    `${path} is damaged:`,
    ...problems.slice(0, MAX_SHOWN).map((problem) => `  ${problem}`),
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
    `what to do: keep a copy of the file, with the one that ends in -wal if there is one, before anything else; then restore a`,
    'backup, or save what can be read with the sqlite3 command ".recover"',
    '',
  ].join('\n');
}
