// Plants a fault while Node loads the sources: `node --import .tools/faults/plant-on-load.mjs --import tsx`. PLANTED_FAULT names a file
// that holds one planted source as JSON, { path, text }. Must come before tsx, so that tsx translates the text that is given here.
import { register } from 'node:module';

register('./load-planted.mjs', import.meta.url, { data: process.env['PLANTED_FAULT'] });
