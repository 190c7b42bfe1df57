// Settings of the scenarios, the same for both runs; .tools/features.ts adds the driver (FEATURES_DRIVER) and the result
// file, and counts the scenarios, since cucumber ends well with none. Undefined and
// pending steps fail, and scenarios do not depend on each other's order.
export default {
  paths: ['features/**/*.feature'],
  import: ['features/support/**/*.ts', 'features/steps/**/*.ts'],
  strict: true,
  order: 'defined',
  publish: false,
};
