// Stops with one clear line when Node is too old for the rest. It imports nothing and uses old syntax only, so that an
// old Node gets as far as reading the message; import it first.
const wanted = [20, 19];
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < wanted[0] || (major === wanted[0] && minor < wanted[1])) {
  console.error(
    `TrueMQ needs Node.js ${wanted.join('.')} or later; this is ${process.versions.node} (${process.execPath}).`,
  );
  console.error('Install a newer one from https://nodejs.org, or with your version manager, and try again.');
  process.exit(1);
}
