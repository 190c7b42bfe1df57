// The root folder of the repository. The self-test needs the reference broker, its sources and the planted faults in it.
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
