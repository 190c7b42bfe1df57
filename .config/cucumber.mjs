// Settings of the scenarios, the same for all runs; .tools/features.ts adds the driver (FEATURES_DRIVER) and the result
// file, and counts the scenarios, since cucumber ends well with none. Undefined and pending steps fail, and scenarios do
// not depend on each other's order. No `paths`: cucumber's own are ours, and would be added to those of a command line.
export default {
  import: ['features/support/**/*.ts', 'features/steps/**/*.ts'],
  strict: true,
  order: 'defined',
  publish: false,
};
