// What a body was inflated to.

/** What node:zlib returns with option `info`: the output, and its stream, which counts the bytes of input that were used. */
export type Inflated = { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
