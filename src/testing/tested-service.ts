// A broker over a virtual disk as its tests use it: in virtual time, with clients on virtual lines.

import { BrokerService } from '../backend/local/broker-service.ts';
import type { EngineOptions } from '../backend/local/engine-options.ts';
import { TestedClients } from './tested-clients.ts';
import { noCompressor, testOptions } from './tested-engine.ts';
import { VirtualDisk } from './virtual-disk.ts';

export class TestedService extends TestedClients {
  readonly service: BrokerService;

  constructor(
    disk: Pick<VirtualDisk, 'openStore'> = new VirtualDisk(),
    options: Partial<EngineOptions> = {},
  ) {
    super();
    this.service = new BrokerService(
      { ...testOptions, ...options },
      {
        environment: this.environment,
        openStore: disk.openStore,
        compressor: noCompressor,
        logger: this.logger(),
      },
    );
  }

  /** One that has started. */
  static async started(disk?: VirtualDisk, options?: Partial<EngineOptions>): Promise<TestedService> {
    const tested = new TestedService(disk, options);
    await tested.service.start();
    return tested;
  }

  protected get attendant(): BrokerService {
    return this.service;
  }
}
