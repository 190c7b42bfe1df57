// The target did what no figure can be taken from: refused the load, lost messages, closed the connection. It fails the pass, with
// words for the person who reads the table.

export class LoadFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LoadFault';
  }
}
