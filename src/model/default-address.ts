// Where a broker listens, and a client connects, when nobody says otherwise. Data only.

/** This machine only: a broker is not reachable from other machines unless somebody asks for it. */
export const DEFAULT_HOST = '127.0.0.1';

/** The TCP port of the protocol. */
export const DEFAULT_PORT = 2925;
