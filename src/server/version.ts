// The version of this broker. A constant rather than a look into package.json: the file is missing in bundles. A test keeps the two equal.

export const VERSION = '0.1.0';
