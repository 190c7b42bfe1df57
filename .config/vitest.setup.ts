// One seed for every property of a run: TRUEMQ_SEED repeats a run, its absence draws a new one. The seed stands in
// fast-check's own failure report.
import fc from 'fast-check';

const given = process.env['TRUEMQ_SEED'];
fc.configureGlobal({ seed: given === undefined ? Date.now() & 0x7fffffff : Number(given) });
