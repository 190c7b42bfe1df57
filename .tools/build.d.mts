// What TypeScript needs to know of build.mjs.
export function ensureBrokerBuilt(): boolean;
export function ensureAllBuilt(): boolean;
