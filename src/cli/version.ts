// `truemq version`.

import { VERSION } from '../server/version.ts';
import { type Command, ExitCode } from './command.ts';

export const version: Command = {
  help: 'usage: truemq version',
  async run(_argv, { stdout }) {
    stdout.write(`${VERSION}\n`);
    return ExitCode.Done;
  },
};
