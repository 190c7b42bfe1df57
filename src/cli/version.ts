// `truemq version`.

import { VERSION } from '../server/version.ts';
import { parseArguments } from './arguments.ts';
import { type Command, ExitCode } from './command.ts';

export const version: Command = {
  help: 'usage: truemq version\n\nPrints the version of this program.',
  async run(argv, { stdout }) {
    parseArguments(argv, { flags: {}, positionals: [] });
    stdout.write(`${VERSION}\n`);
    return ExitCode.Done;
  },
};
