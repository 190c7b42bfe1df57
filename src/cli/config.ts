// `truemq config`: the effective configuration, one key a line, with where each value came from. The output is YAML that
// `--config` takes back. Implements CONFIG-007.

import { describeOrigin, type Setting } from '../config/configuration.ts';
import { configurationReference, flagHelp } from '../config/reference.ts';
import { parseArguments } from './arguments.ts';
import { type Command, ExitCode } from './command.ts';
import { configurationArguments, loadEffectiveConfiguration } from './configuration-flags.ts';

export const config: Command = {
  help: `usage: truemq config [--config FILE] [flags]
       truemq config --reference

Prints the configuration that "truemq serve" with the same flags, environment and file would have, and where each value came
from. The output is YAML and can be used as a file. With --reference: the page about all keys, in Markdown.

${flagHelp()}`,
  async run(argv, surroundings) {
    const { texts, switches } = parseArguments(argv, configurationArguments({ reference: 'switch' }));
    const text = switches.has('reference')
      ? configurationReference()
      : (await loadEffectiveConfiguration(texts, surroundings)).settings.map(settingLine).join('');
    surroundings.stdout.write(text);
    return ExitCode.Done;
  },
};

function settingLine({ key, text, origin }: Setting): string {
  return `${`${key}: ${quoteYaml(text)}`.padEnd(44)} # ${describeOrigin(origin)}\n`;
}

/** Bare where YAML reads the same text back, else in double quotes (JSON's quoting is YAML's). */
function quoteYaml(text: string): string {
  return /^[A-Za-z0-9][\w./-]*(,[\w./-]+)*$/.test(text) ? text : JSON.stringify(text);
}
