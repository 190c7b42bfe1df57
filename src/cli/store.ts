// `truemq store`: the operator's actions on the file of a durable store while no broker uses it. Finds the action, and reports a problem
// with the file in one line. The actions are in store/. Implements DURABLE-016 for the operator.

import { StoreError } from '../storage/storage-provider.ts';
import { findAction, flagOfOtherActions, flagsByAction } from './actions.ts';
import { type Arguments, type FlagKind, parseArguments, UsageError } from './arguments.ts';
import { type Command, type CommandContext, ExitCode } from './command.ts';
import { checkStore } from './store/check.ts';
import { compact } from './store/compact.ts';
import { exportStore } from './store/export.ts';
import { importStore } from './store/import.ts';
import { importExisting } from './store/import-existing.ts';
import { showStatistics } from './store/stats.ts';

type Action = {
  readonly flags: Readonly<Record<string, FlagKind>>;
  run(path: string, given: Arguments, context: CommandContext): Promise<ExitCode>;
};

const actions: Readonly<Record<string, Action>> = {
  check: { flags: {}, run: (path, _, context) => checkStore(path, context) },
  export: {
    flags: { output: 'text' },
    run: (path, { texts }, context) => exportStore(path, texts.get('output'), context),
  },
  import: {
    flags: { input: 'text', 'from-existing': 'text' },
    run: (path, { texts }, context) => {
      const [input, existing] = [texts.get('input'), texts.get('from-existing')];
      if (existing === undefined) return importStore(path, input, context);
      if (input !== undefined) throw new UsageError('--input and --from-existing do not go together');
      return importExisting(existing, path, context);
    },
  },
  stats: {
    flags: { json: 'switch' },
    run: (path, { switches }, context) => showStatistics(path, { asJson: switches.has('json') }, context),
  },
  compact: { flags: {}, run: (path, _, context) => compact(path, context) },
};

export const store: Command = {
  help: `usage: truemq store check FILE
       truemq store export FILE [--output TEXT]
       truemq store import FILE [--input TEXT]
       truemq store import FILE --from-existing DATABASE
       truemq store stats FILE [--json]
       truemq store compact FILE

Maintains FILE, the file of a broker with --storage sqlite. No broker may use the file meanwhile.

  check      checks the file and lists its faults; exit code 1 if there are any. Does not change the file
  export     writes the file as text: one line of JSON for each queue and each message. Does not change the file
  import     creates a new FILE from such a text, or lists the first 20 invalid lines and creates none.
             With --from-existing: takes queues, messages and dead letters from the SQLite database of an existing broker
             into FILE, which may exist; lists the rows that cannot be taken, with exit code 1. Does not change DATABASE.
             What is in FILE already stays as it is, so that the import can be repeated
  stats      prints messages, dead letters, bytes and age by queue, and the size of the file. Does not change the file
  compact    returns unused space to the disk

  --output TEXT   the new file for the text [stdout]
  --input TEXT    the file with the text [stdin]
  --from-existing DATABASE   the file of an existing broker, such as vibemq.db; that broker must be stopped
  --json          print figures as JSON`,

  actionFlags: flagsByAction(actions),

  async run(argv, context) {
    const [name, ...rest] = argv;
    const action = findAction(name, actions);
    const given = parseArguments(rest, {
      flags: action.flags,
      positionals: ['FILE'],
      explainUnknown: (flag) => flagOfOtherActions(flag, name, actions),
    });
    try {
      return await action.run(given.positionals[0] ?? '', given, context);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      context.stderr.write(`truemq: ${error.message}\n`);
      return ExitCode.Failed;
    }
  },
};
