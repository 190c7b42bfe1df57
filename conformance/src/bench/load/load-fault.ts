// A fault of the target that makes the figures of a pass useless: it refused the load, lost messages or closed the connection. The message
// is shown in the table.

export class LoadFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LoadFault';
  }
}
