// The name and version of the runner, from package.json.
import manifest from '../package.json' with { type: 'json' };

export const runnerIdentity = { name: manifest.name, version: manifest.version } as const;
