// `truemq config`: the effective configuration, one key a line, with the origin of each value. The output is YAML that `--config` accepts; a secret
// is hidden in it. Implements CONFIG-007.

import { describeOrigin, type Setting } from '../config/configuration.ts';
import { configurationKeys } from '../config/keys.ts';
import { configurationReference, flagHelp } from '../config/reference.ts';
import { secretsFromFiles } from '../config/secrets.ts';
import { parseArguments } from './arguments.ts';
import { type Command, ExitCode } from './command.ts';
import { configurationArguments, loadEffectiveConfiguration } from './configuration-flags.ts';

export const config: Command = {
  help: `usage: truemq config [--config FILE] [flags]
       truemq config --reference

Prints the configuration that "truemq serve" would use with the same flags, environment and file, and the origin of each value.
The output is YAML and can be used as a configuration file. A secret shows as (hidden), and must be written there again unless it is
in a file of its own, such as that of authTokenFile: the line of such a secret is a comment.

  --config FILE                          a file of keys, in JSON or YAML; flags and environment override it
  --reference                            print the reference of all keys, in Markdown, instead

${flagHelp()}`,
  async run(argv, context) {
    const { texts, switches } = parseArguments(argv, configurationArguments({ reference: 'switch' }));
    const text = switches.has('reference')
      ? configurationReference()
      : settingLines((await loadEffectiveConfiguration(texts, context)).settings);
    context.stdout.write(text);
    return ExitCode.Done;
  },
};

/** The line of a secret that is in a file of its own is a comment: the key that names the file says everything. */
function settingLines(settings: readonly Setting[]): string {
  const fromFiles = secretsFromFiles(settings);
  return settings
    .map((setting) => (fromFiles.has(setting.key) ? `# ${settingLine(setting)}` : settingLine(setting)))
    .join('');
}

function settingLine({ key, text, origin }: Setting): string {
  const { kind } = configurationKeys[key];
  // Values of other kinds need no quotes: the loader reads them from YAML as the same value.
  const value = kind === 'text' || kind === 'list' ? JSON.stringify(text) : text;
  return `${`${key}: ${value}`.padEnd(44)} # ${describeOrigin(origin)}\n`;
}
