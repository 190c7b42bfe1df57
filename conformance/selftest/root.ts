// The root of the repository, which the self-test needs: the reference broker, its sources, the planted faults.
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
