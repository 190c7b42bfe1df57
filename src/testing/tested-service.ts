// A whole broker over a virtual disk, for tests of starts and failures: in virtual time, with clients on virtual connections. The test
// starts it.

import type { Gateway } from '../gateway/gateway.ts';
import { type BrokerOptions, composeBroker } from './composed-broker.ts';
import { noCompressor, testOptions } from './tested-broker.ts';
import { TestedClients } from './tested-clients.ts';
import { VirtualDisk } from './virtual-disk.ts';

export class TestedService extends TestedClients {
  readonly service: Gateway;

  constructor(
    disk: Pick<VirtualDisk, 'openStore'> = new VirtualDisk(),
    options: Partial<BrokerOptions> = {},
  ) {
    super();
    this.service = composeBroker(
      { ...testOptions, ...options },
      {
        environment: this.environment,
        openStore: disk.openStore,
        compressor: noCompressor,
        logger: this.logger(),
      },
    );
  }

  /** A started broker. */
  static async started(disk?: VirtualDisk, options?: Partial<BrokerOptions>): Promise<TestedService> {
    const tested = new TestedService(disk, options);
    await tested.service.start();
    return tested;
  }

  protected get gateway(): Gateway {
    return this.service;
  }
}
