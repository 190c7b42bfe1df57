// The version of this broker, and `truemq version`. A constant rather than a look into package.json: the file is missing in bundles. A test
// keeps the two equal.

import { parseArguments } from './arguments.ts';
import { type Command, ExitCode } from './command.ts';

export const VERSION = '0.1.0';

export const version: Command = {
  help: 'usage: truemq version\n\nPrints the version of this program.',
  async run(argv, { stdout }) {
    parseArguments(argv, { flags: {}, positionals: [] });
    stdout.write(`${VERSION}\n`);
    return ExitCode.Done;
  },
};
