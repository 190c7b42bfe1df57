// The queues that a client declares, as something that each connection needs anew: missing ones are created at every connect, and existing
// ones are compared at the first. Implements CLIENT-015 and CLIENT-029 together with apply-declarations.ts.

import { BrokerCommands } from '../broker-commands.ts';
import type { ClientConnection } from '../client-connection.ts';
import type { Renewable } from '../supervisor.ts';
import { applyDeclarations, type DeclarationOptions } from './apply-declarations.ts';

export class DeclaredQueues implements Renewable {
  readonly #options: DeclarationOptions;

  constructor(options: DeclarationOptions) {
    this.#options = options;
  }

  async renew(connection: ClientConnection, isReconnect: boolean): Promise<void> {
    const commands = new BrokerCommands((request, call) => connection.request(request, call));
    await applyDeclarations(commands, { ...this.#options, isReconnect });
  }

  /** Queues outlive the client that declared them. */
  end(): void {}
}
