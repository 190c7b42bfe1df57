// The version of this broker, and `truemq version`. A constant rather than a look into package.json: the file is not there in
// every form in which the code runs (bundles), and a test keeps the two equal.

import { type Command, ExitCode } from './command.ts';

export const VERSION = '0.1.0';

export const version: Command = {
  help: 'usage: truemq version',
  async run(_argv, { stdout }) {
    stdout.write(`${VERSION}\n`);
    return ExitCode.Done;
  },
};
