// The name and version of the runner, as they stand in the package.
import manifest from '../package.json' with { type: 'json' };

export const runnerIdentity = { name: manifest.name, version: manifest.version } as const;
