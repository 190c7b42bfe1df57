// The entry of a part's process when the runner runs from its sources: a part needs little of them, and starts the sooner.
import { partNames } from './own-program.ts';
import { servePart } from './parts.ts';

const part = partNames.find((name) => name === process.argv[2]);
if (part === undefined) throw new Error(`there is no part ${process.argv[2]}`);
await servePart(part);
