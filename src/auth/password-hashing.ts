// Port: computes bcrypt hashes outside the event loop (AUTH-012). The caller limits how many calls run in parallel and how long a password
// may be.

export interface PasswordHashing {
  hash(password: string, cost: number): Promise<string>;
  verify(password: string, hash: string): Promise<boolean>;
  /** Calls that have not been answered reject. */
  close(): void;
}
